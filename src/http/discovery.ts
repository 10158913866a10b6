/** The interface's descriptions of itself (OPTIONS, index), derived from the endpoint declarations. `openapi.ts` has another. */
import type { Settings } from '../base/settings.ts'
import type { JsonSchema } from './coercion.ts'
import { type Resource, type Route, segmentOf } from './endpoint.ts'

export type Json = Record<string, unknown>

/** Settings that descriptions depend on. */
export type Described = Pick<Settings, 'rateTypes'>

/** The last part of a base path names the interface and its version: 'v1', 'affwp/v1'. */
function namespaceOf(base: string): string {
  return base.replace(/^\/(?:wp-json\/)?/, '')
}

/** Endpoints by path, in declaration order. */
export function byPath<R extends Route>(endpoints: readonly R[]): Map<string, R[]> {
  return Map.groupBy(endpoints, endpoint => endpoint.path)
}

/** All that can be called, also without an API key. */
const routesOf = ({ endpoints, signed = [] }: Resource): Route[] => [...endpoints, ...signed]

const linkTo = (href: string) => ({ self: [{ href }] })

/** The answer to OPTIONS on one route. @param url that was asked for */
export function describeRoute(
  resource: Resource,
  endpoints: readonly Route[],
  base: string,
  url: string,
  settings: Described,
): Json {
  return {
    ...describeEndpoints(endpoints, base, settings),
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      ...resource.record,
      title: resource.name,
    },
    _links: linkTo(url),
  }
}

/** The answer to GET on the base path: every route with its endpoints. */
export function describeIndex(
  resources: readonly Resource[],
  base: string,
  baseUrl: string,
  settings: Described,
): Json {
  const routes: Json = {}
  for (const resource of resources) {
    for (const [path, endpoints] of byPath(routesOf(resource))) {
      routes[`${base}${path}`] = {
        ...describeEndpoints(endpoints, base, settings),
        ...linkUnlessTemplate(`${baseUrl}${path}`),
      }
    }
  }
  return {
    namespace: namespaceOf(base),
    routes,
    _links: { ...linkTo(baseUrl), 'service-desc': [{ href: `${baseUrl}/openapi.json` }] },
  }
}

/** A template is no address that can be asked for. */
const linkUnlessTemplate = (href: string) => (href.includes('{') ? {} : { _links: linkTo(href) })

/** Resources under a base path. */
export interface Served {
  readonly base: string
  readonly resources: readonly Resource[]
}

/**
 * The index of a WordPress site, by which its clients find out what there is: as WordPress names and writes routes. It is
 * for anybody, so what an endpoint takes is left to OPTIONS, which asks for a key.
 */
export function describeSite(apis: readonly Served[], siteUrl: string, home: string): Json {
  const routes = apis.flatMap(({ base, resources }) => {
    const namespace = namespaceOf(base)
    return [...byPath(resources.flatMap(routesOf))].map(([path, endpoints]) => [
      `/${namespace}${path.replace(/\{(\w+)\}/g, (_, name) => `(?P<${name}>${segmentOf(endpoints, name)})`)}`,
      {
        namespace,
        methods: endpoints.flatMap(({ methods }) => methods),
        endpoints: endpoints.map(({ methods, summary }) => ({ methods, summary })),
        ...linkUnlessTemplate(`${siteUrl}${base}${path}`),
      },
    ])
  })
  return {
    name: 'affiliated',
    description: 'Affiliates and their payouts.',
    url: siteUrl,
    home: siteUrl,
    gmt_offset: 0,
    timezone_string: 'UTC',
    namespaces: apis.map(({ base }) => namespaceOf(base)),
    routes: Object.fromEntries(routes),
    _links: linkTo(home),
  }
}

function describeEndpoints(endpoints: readonly Route[], base: string, settings: Described): Json {
  return {
    namespace: namespaceOf(base),
    methods: endpoints.flatMap(endpoint => endpoint.methods),
    endpoints: endpoints.map(endpoint => ({
      methods: endpoint.methods,
      summary: endpoint.summary,
      args: Object.fromEntries(
        argumentsOf(endpoint).map(([name, schema]) => [
          name,
          describeArgument(schema, isRequired(endpoint, name), settings),
        ]),
      ),
    })),
  }
}

function describeArgument(schema: JsonSchema, required: boolean, settings: Described): Json {
  const { 'x-configured': configured, ...rest }: Json = { ...schema }
  return {
    ...rest,
    // In the place of the list of an object's members that are.
    required,
    type: typeOf(schema),
    ...(configured === 'rate_types' && { enum: ['', ...settings.rateTypes] }),
  }
}

const ANYTHING = ['string', 'number', 'boolean', 'array', 'object', 'null']

/** What may be sent. */
export function typeOf({ type, anyOf, items, const: constant }: JsonSchema): unknown {
  if (anyOf) return anyOf.map(typeOf)
  // A list of values may also be sent as comma-separated text.
  if (type === 'array' && items?.type !== 'object') return ['array', 'string']
  return type ?? (constant === undefined ? ANYTHING : typeof constant)
}

/** What may be sent: the rest is there to be refused. */
export function argumentsOf({ arguments: { properties } }: Pick<Route, 'arguments'>): [string, JsonSchema][] {
  const all: [string, JsonSchema][] = Object.entries(properties)
  return all.filter(([, schema]) => !schema['x-refused'])
}

/** Whether an argument has to be sent. */
export function isRequired(endpoint: Pick<Route, 'arguments'>, name: string): boolean {
  const { required = [] }: JsonSchema = endpoint.arguments
  return required.includes(name)
}
