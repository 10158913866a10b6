/**
 * Edits that do not overwrite what their caller has not seen. A record's ETag is a hash of its text, so it is the same
 * on every node and changes with whatever the record shows. Its first part leaves out what follows from other records
 * (an affiliate's earnings, …), and is all that If-Match compares: else no edit of a busy affiliate would succeed. It
 * is compared inside of the write's transaction, which is run again when somebody else changed the record meanwhile.
 * See docs/decisions/entity-tags.md.
 */
import { hash } from 'node:crypto'
import { Failure } from '../base/errors.ts'
import { memberOf } from '../base/unknown.ts'
import { type Call, type Endpoint, inPath, type Resource } from './endpoint.ts'

/** Length of SHA-1 as Base64. */
const HASH_LENGTH = 27

/**
 * @param body the record's JSON
 * @param derived finds the fields of the text that follow from other records
 */
export function entityTag(body: string, derived?: RegExp): string {
  const fullHash = hash('sha1', body, 'base64url')
  if (!derived) return `"${fullHash}"`
  return `"${hash('sha1', body.replace(derived, ''), 'base64url')}${fullHash}"`
}

/** The part of a tag that changes with what callers can edit. */
const ownPart = (tag: string) => tag.slice(0, HASH_LENGTH + 1)

/** Finds numbers and texts by the names of their fields. In a text, the quotes of what looks alike are escaped. */
export function derivedFields({ derived = [] }: Resource): RegExp | undefined {
  // Adjacent fields are found by one match.
  return derived.length === 0
    ? undefined
    : new RegExp(`(?:,"(?:${derived.join('|')})":(?:"[^"]*"|[^,}]*))+`, 'g')
}

/** Whether the endpoint's answer is one record. */
export function answersRecord({ methods, path, answer }: Endpoint): boolean {
  return answer.status === 201 || (path.endsWith('}') && !methods.includes('DELETE'))
}

/** The endpoint that shows the record that `endpoint` edits or deletes. */
export function showing(resource: Resource, endpoint: Endpoint): Endpoint | undefined {
  if (!endpoint.path.endsWith('}') || endpoint.methods.includes('GET')) return undefined
  return resource.endpoints.find(({ path, methods }) => path === endpoint.path && methods.includes('GET'))
}

/** If-None-Match: whether the caller has what would be sent. */
export function isKnown(header: string, tag: string): boolean {
  return header.trim() === '*' || tagsIn(header).some(known => known.replace(/^W\//, '') === tag)
}

/**
 * If-Match. A record can be shown in several forms (with its account, …); the tag of any of them counts.
 * @param show the endpoint that shows it
 * @throws Failure precondition_failed, or that the record is not there
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

/** Every combination of the flags that choose what is shown of a record, the plain form first. */
function formsOf({ arguments: { properties } }: Endpoint): Record<string, true>[] {
  const flags = Object.keys(properties).filter(name => memberOf(properties[name], 'type') === 'boolean')
  let forms: Record<string, true>[] = [{}]
  for (const flag of flags) forms = forms.flatMap(form => [form, { ...form, [flag]: true }])
  return forms
}
