/** Schemas of the OpenAPI document, by name: generators make one type of each, and none of what has no name. */
import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../base/unknown.ts'
import { pascalCase } from '../base/words.ts'
import type { Json } from './discovery.ts'
import { type Endpoint, inPath } from './endpoint.ts'

/** The part of a path after the item, such as '_ledger'. */
export function belowItem({ path }: Pick<Endpoint, 'path'>): string {
  const below = path.includes('}') ? path.split('}')[1]! : path.replace(/^\/[^/]*/, '')
  return below.replaceAll('/', '_').replaceAll('-', '_')
}

/** The name of what an endpoint does, which its methods share. */
export const nameOf = (endpoint: Endpoint): string =>
  `${endpoint.permission.replace('.', '_')}${inPath(endpoint).length ? '_item' : ''}${belowItem(endpoint)}`

/** The title of what an endpoint takes or answers and nothing else has. */
export const titleOf = (endpoint: Endpoint, part: 'Answer' | 'Body' | 'Line'): string =>
  pascalCase(nameOf(endpoint)) + part

export class Schemas {
  readonly #named = new Map<string, Json>()

  /** What the document refers to, once all of it is written. */
  get components(): Json {
    return Object.fromEntries([...this.#named].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  /**
   * A part of the document, in which each schema that has a title is referred to instead of written, and objects whose
   * members nobody declares may have any: generators take them for empty ones otherwise.
   * @throws Error where two schemas have one title
   */
  refer(part: Json): Json {
    const schema = Object.fromEntries(
      Object.entries(part).map(([name, member]) => [name, this.#member(member)]),
    )
    const { type, title, properties } = schema
    if (type !== 'object') return schema
    if (Object.keys(properties ?? {}).length === 0) return { additionalProperties: true, ...schema }
    if (typeof title !== 'string') return schema
    const known = this.#named.get(title) ?? schema
    if (!isDeepStrictEqual(known, schema)) throw new Error(`Two schemas have the title ${title}.`)
    this.#named.set(title, schema)
    return { $ref: `#/components/schemas/${title}` }
  }

  #member(part: unknown): unknown {
    if (Array.isArray(part)) return part.map(member => this.#member(member))
    return isObject(part) ? this.refer(part) : part
  }
}
