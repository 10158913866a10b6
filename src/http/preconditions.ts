/**
 * Optimistic concurrency. A record's ETag is a hash of its JSON, so it is the same on every node and changes with
 * everything the record shows. Its first part leaves out fields computed from other records (an affiliate's earnings, …)
 * and is all that If-Match compares: otherwise no edit of a busy affiliate would succeed. The comparison runs inside the
 * write's transaction, which is retried when someone else has changed the record meanwhile.
 * See docs/decisions/entity-tags.md.
 */
import { hash } from 'node:crypto'
import { Failure } from '../base/errors.ts'
import { memberOf } from '../base/unknown.ts'
import { type Call, type Endpoint, inPath, type Resource } from './endpoint.ts'

/** Length of a SHA-1 in Base64. */
const HASH_LENGTH = 27

/**
 * @param body the record's JSON
 * @param derived matches the fields that are computed from other records
 */
export function entityTag(body: string, derived?: RegExp): string {
  const fullHash = hash('sha1', body, 'base64url')
  if (!derived) return `"${fullHash}"`
  return `"${hash('sha1', body.replace(derived, ''), 'base64url')}${fullHash}"`
}

/** The part of a tag that covers what callers can edit. */
const ownPart = (tag: string) => tag.slice(0, HASH_LENGTH + 1)

/** Matches numbers and strings by field name. Inside a string, quotes are escaped, so that nothing in it can match. */
export function derivedFields({ derived = [] }: Resource): RegExp | undefined {
  // One match covers adjacent fields.
  return derived.length === 0
    ? undefined
    : new RegExp(`(?:,"(?:${derived.join('|')})":(?:"[^"]*"|[^,}]*))+`, 'g')
}

/** Whether the endpoint's answer is one record. */
export function answersRecord({ methods, path, answer }: Endpoint): boolean {
  return answer.status === 201 || (path.endsWith('}') && !methods.includes('DELETE'))
}

/**
 * The endpoint that reads the record that `endpoint` edits, deletes, or does something with below its address. Where there is
 * one, If-Match is compared with what it shows.
 */
export function showing(resource: Resource, endpoint: Endpoint): Endpoint | undefined {
  if (endpoint.methods.includes('GET')) return undefined
  const address = endpoint.path.slice(0, endpoint.path.lastIndexOf('}') + 1)
  return resource.endpoints.find(({ path, methods }) => path === address && methods.includes('GET'))
}

/** Whether the endpoint reads a record that If-None-Match can be compared with. */
export function isConditional(endpoint: Endpoint): boolean {
  return endpoint.methods.includes('GET') && answersRecord(endpoint)
}

/** If-None-Match: whether the caller already has this version. */
export function isKnown(header: string, tag: string): boolean {
  return header.trim() === '*' || tagsIn(header).some(known => known.replace(/^W\//, '') === tag)
}

/**
 * If-Match. A record has several forms (with its account, …); the tag of any of them matches.
 * @param show the endpoint that reads the record
 * @throws Failure precondition_failed, or the failure for a missing record
 */
export async function refuseChanged(
  call: Call,
  show: Endpoint,
  args: Record<string, unknown>,
  header: string,
  derived: RegExp | undefined,
): Promise<void> {
  const item = Object.fromEntries(inPath(show).map(name => [name, args[name]]))
  const tags = tagsIn(header).map(ownPart)
  for (const form of formsOf(show)) {
    const { body } = await show.handle(call, { ...item, ...form })
    if (typeof body !== 'string') throw new TypeError('A record is answered as one text.')
    if (header.trim() === '*' || tags.includes(ownPart(entityTag(body, derived)))) return
  }
  throw new Failure('precondition_failed')
}

function tagsIn(header: string): string[] {
  return header.match(/(?:W\/)?"[^"]*"/g) ?? []
}

/** All combinations of the flags that select a form of the record, the plain form first. */
function formsOf({ arguments: { properties } }: Endpoint): Record<string, true>[] {
  const flags = Object.keys(properties).filter(name => memberOf(properties[name], 'type') === 'boolean')
  let forms: Record<string, true>[] = [{}]
  for (const flag of flags) forms = forms.flatMap(form => [form, { ...form, [flag]: true }])
  return forms
}
