import type { onRequestHookHandler } from 'fastify'
import { Failure } from '../../base/errors.ts'
import { refuseWithout } from '../allowed.ts'
import { type Endpoint, type Permission, segmentOf } from '../endpoint.ts'

/** Requires the endpoint's permission: 403. */
export function authorize(permission: Permission): onRequestHookHandler {
  return (request, _reply, done) => {
    refuseWithout(permission, request.actor!)
    done()
  }
}

/** The paths below a base path, with their methods. */
export class Routes {
  readonly #base: string
  readonly #methods = new Map<RegExp, readonly string[]>()

  constructor(base: string) {
    this.#base = base
  }

  /** @returns the Allow header of the path */
  add(path: string, methods: readonly string[], endpoints: readonly Endpoint[] = []): string {
    const withHead = methods.includes('GET') ? ['HEAD', ...methods] : methods
    const pattern = path.replaceAll('.', '\\.').replace(/\{(\w+)\}/g, (_, name) => segmentOf(endpoints, name))
    this.#methods.set(new RegExp(`^${this.#base}${pattern}/?$`), withHead)
    return withHead.join(', ')
  }

  /** For unknown routes, before a body is read: 405 where the path has other methods, otherwise 404. */
  readonly refuse: onRequestHookHandler = ({ is404, url }, _reply, done) => {
    if (is404) throw this.#problemAt(url)
    done()
  }

  #problemAt(url: string): Failure {
    const [path] = url.split('?', 1)
    for (const [pattern, methods] of this.#methods) {
      if (pattern.test(path!)) return new Failure('no_method', { data: { allow: methods } })
    }
    return new Failure('no_route')
  }
}
