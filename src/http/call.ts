/** The request as handlers see it: actor, arguments, and the address under which the client reached the service. */
import type { FastifyRequest } from 'fastify'
import type { Actor } from '../base/actor.ts'
import type { Settings } from '../base/settings.ts'
import type { Context } from '../events/write.ts'
import type { Tx } from '../storage/database.ts'
import { addressOf } from './address.ts'
import type { Call, Resource } from './endpoint.ts'
import type {} from './limits/reading.ts'

const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/i

/** Absolute URL of a path, as this client reaches the service. */
export function absolute(request: FastifyRequest, path: string): string {
  // Falls back to the path, which is a valid reference as well: HTTP/1.0 has no Host header, and an invalid one is
  // not repeated.
  return HOST.test(request.host ?? '') ? `${request.protocol}://${request.host}${path}` : path
}

/** The query string as it was sent, without '?'. */
export function queryOf({ url }: FastifyRequest): string {
  const start = url.indexOf('?')
  return start < 0 ? '' : url.slice(start + 1)
}

export class HttpCall implements Call {
  readonly base: string
  readonly request: FastifyRequest
  readonly #context: Context
  readonly #resource: Resource

  constructor(context: Context, request: FastifyRequest, resource: Resource, base: string) {
    this.base = base
    this.request = request
    this.#context = context
    this.#resource = resource
  }

  within(tx: Tx): HttpCall {
    return new HttpCall(this.#context.within(tx), this.request, this.#resource, this.base)
  }

  get database() {
    return this.#context.database
  }

  get patient(): HttpCall {
    const database = this.#context.database.background(this.request.reading?.budget)
    return new HttpCall({ ...this.#context, database }, this.request, this.#resource, this.base)
  }

  get settings() {
    return this.#context.settings
  }

  beginStream(): void {
    this.request.reading?.beginStream()
  }

  get actor(): Actor {
    return this.request.actor!
  }

  get collectionUrl(): string {
    return `${absolute(this.request, this.base)}/${this.#resource.name}`
  }

  get address(): string {
    return addressOf(this.request)
  }

  get cookies(): string | undefined {
    return this.request.headers.cookie
  }

  get userAgent(): string | undefined {
    return this.request.headers['user-agent']
  }

  get secure(): boolean {
    return this.request.protocol === 'https'
  }

  get getsBody(): boolean {
    return this.request.method !== 'HEAD'
  }

  get query(): string {
    return queryOf(this.request)
  }
}

/**
 * The settings for one write, from its beginning to its answer: once it is committed, nothing has to be read that might
 * fail.
 */
export async function steadySettings(settings: Context['settings']): Promise<Context['settings']> {
  let known: Settings | undefined = await settings.current()
  return {
    current: async () => known ?? settings.current(),
    lock: async tx => {
      known = await settings.lock(tx)
      return known
    },
    forget: () => {
      known = undefined
      settings.forget()
    },
  }
}
