/**
 * Registers the resources' endpoints under a base path. A request passes through the stages in `stages/` in the order of
 * their registration here; Fastify reads the body between `onRequest` and `preHandler`. A stage throws a Failure, sets
 * headers, or fills a property of the request, and knows of no other stage.
 * See docs/decisions/stages.md.
 */
import type { FastifyInstance, RouteHandlerMethod } from 'fastify'
import type { Context } from '../events/write.ts'
import { refuseEnded } from './allowed.ts'
import { absolute } from './call.ts'
import {
  byPath,
  type Described,
  describeIndex,
  describeRoute,
  describeSite,
  type Served,
} from './discovery.ts'
import { type Endpoint, type Resource, segmentOf, takesBody } from './endpoint.ts'
import type { AnswerHeaders } from './headers.ts'
import { openApi } from './openapi.ts'
import { LINES_TYPE } from './parameters.ts'
import { type Admission, admit } from './stages/admit.ts'
import { readArguments } from './stages/arguments.ts'
import { type Authenticate, authenticate } from './stages/authenticate.ts'
import { authorize, Routes } from './stages/authorize.ts'
import { body, LINES_BYTES } from './stages/body.ts'
import { origin } from './stages/origin.ts'
import { type Guards, perform } from './stages/perform.ts'
import { send } from './stages/send.ts'
import { shed, shedByCaller } from './stages/shed.ts'
import { together } from './stages/together.ts'

export interface ApiOptions extends Admission {
  readonly context: Context
  /** Authenticates the request, before anything else is read. */
  readonly authenticate: Authenticate
  readonly guards: Guards
  readonly resources: readonly Resource[]
  readonly base: string
  readonly corsOrigins: ReadonlySet<string>
  /** Version in the OpenAPI document; without it there is no document. */
  readonly version?: string
}

/** A Fastify plugin; register it with `base` as its prefix. */
export async function api(scope: FastifyInstance, options: ApiOptions): Promise<void> {
  scope.addHook('onRequest', shed(options.load))
  scope.addHook('onRequest', origin(options.corsOrigins))
  scope.addHook('onRequest', authenticate(options.authenticate))
  scope.addHook('onRequest', shedByCaller(options.load))
  const routes = new Routes(options.base)
  scope.addHook('onRequest', routes.refuse)

  // Bodies stay raw bytes: the arguments stage parses them.
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser(
    LINES_TYPE,
    { parseAs: 'buffer', bodyLimit: Math.max(LINES_BYTES, scope.initialConfig.bodyLimit ?? 0) },
    (_request, body, done) => done(null, body),
  )
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

  for (const resource of options.resources) {
    for (const [path, endpoints] of byPath(resource.endpoints)) {
      // Routes are matched when the argument is decoded: its slashes do not end it.
      const decoded = (name: string) => segmentOf(endpoints, name).replaceAll('[^/]', '.')
      const url = path.replace(/\{(\w+)\}/g, (_, name) => `:${name}(^${decoded(name)}$)`)
      for (const endpoint of endpoints) addEndpoint(scope, url, resource, endpoint, options)
      const methods = [...endpoints.flatMap(endpoint => endpoint.methods), 'OPTIONS']
      addDescription(scope, url, resource, endpoints, routes.add(path, methods, endpoints), options)
    }
    // Served by `http/signed.ts`, which asks for no key.
    for (const { path, methods } of resource.signed ?? []) routes.add(path, methods)
  }
  addDiscovery(scope, routes, options)
  scope.setNotFoundHandler(unknown)
}

/** Never called: it has unknown routes pass the stages, of which `Routes.refuse` is one. */
const unknown: RouteHandlerMethod = () => {}

function addEndpoint(
  scope: FastifyInstance,
  url: string,
  resource: Resource,
  endpoint: Endpoint,
  options: ApiOptions,
): void {
  const { confirm, load } = options
  scope.route({
    method: [...endpoint.methods],
    url,
    ...(endpoint.bodyLimitBytes !== undefined && { bodyLimit: endpoint.bodyLimitBytes }),
    onRequest: [authorize(endpoint.permission), ...(takesBody(endpoint) ? [body(endpoint, load)] : [])],
    preHandler: [admit(endpoint, options), readArguments(resource, endpoint, options)],
    // Answers to writes come together by themselves: they wait for the commit that they share.
    ...(endpoint.methods.includes('GET') && { onSend: together }),
    handler: send(perform(resource, endpoint, options), {
      refuse: request => refuseEnded(request, endpoint.permission, confirm),
    }),
  })
}

/** OPTIONS: describes a route. */
function addDescription(
  scope: FastifyInstance,
  url: string,
  resource: Resource,
  endpoints: readonly Endpoint[],
  allow: string,
  options: ApiOptions,
): void {
  const describe = (_baseUrl: string, settings: Described, url: string) =>
    describeRoute(resource, endpoints, options.base, url, settings)
  scope.options(url, described(describe, options, { Allow: allow }))
}

/** The index, and the OpenAPI document. */
function addDiscovery(scope: FastifyInstance, routes: Routes, options: ApiOptions): void {
  const { resources, base, version } = options
  routes.add('', ['GET'])
  const index = (baseUrl: string, settings: Described) => describeIndex(resources, base, baseUrl, settings)
  scope.get('/', described(index, options))
  if (version === undefined) return
  routes.add('/openapi.json', ['GET'])
  const document = (baseUrl: string) => openApi(resources, baseUrl, version)
  scope.get('/openapi.json', described(document, options))
}

/** A WordPress site has its index here. */
export const SITE_BASE = '/wp-json'

interface SiteOptions extends Pick<ApiOptions, 'context' | 'load' | 'corsOrigins'> {
  readonly apis: readonly Served[]
}

/** A Fastify plugin, for `SITE_BASE`: the index, for anybody. */
export async function site(scope: FastifyInstance, options: SiteOptions): Promise<void> {
  scope.addHook('onRequest', shed(options.load))
  scope.addHook('onRequest', origin(options.corsOrigins))
  const routes = new Routes(SITE_BASE)
  scope.addHook('onRequest', routes.refuse)
  const headers = { Allow: routes.add('', ['GET', 'OPTIONS']) }
  const index = (siteUrl: string, _settings: Described, url: string) =>
    describeSite(options.apis, siteUrl, url)
  scope.get('/', described(index, { ...options, base: '' }))
  const itself = { namespace: '', methods: ['GET'], endpoints: [{ methods: ['GET'], args: {} }] }
  scope.options(
    '/',
    send(async () => ({ status: 200, headers, body: JSON.stringify(itself) })),
  )
  scope.setNotFoundHandler(unknown)
}

/** Answers with a description, which is kept until the address that is asked for or the settings change. */
function described(
  describe: (baseUrl: string, settings: Described, url: string) => object,
  { context, base }: Pick<ApiOptions, 'context' | 'base'>,
  headers: AnswerHeaders = {},
): RouteHandlerMethod {
  let last = { key: '', text: '' }
  return send(async request => {
    const baseUrl = absolute(request, base)
    const settings = await context.settings.current()
    const [path] = request.url.split('?', 1)
    const url = absolute(request, path!.replace(/\/$/, ''))
    const key = JSON.stringify([baseUrl, url, ...settings.rateTypes])
    if (last.key !== key) last = { key, text: JSON.stringify(describe(baseUrl, settings, url)) }
    return { status: 200, headers, body: last.text }
  })
}
