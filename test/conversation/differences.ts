/** In what two answers differ, as lines that a person reads. */
import type { Answer } from './side.ts'

const SHOWN = 200
const MOST_IN_BODY = 12

/** @param ignored names of members of JSON that may differ, such as `message` */
export function differencesOf(mine: Answer, its: Answer, ignored: ReadonlySet<string>): string[] {
  const lines: string[] = []
  const compare = (what: string, one: unknown, other: unknown) => {
    if (one !== other) lines.push(`${what}: ${short(other)} -> ${short(one)}`)
  }
  compare('status', mine.status, its.status)
  const body = inBody(mine.body, its.body, ignored)
  for (const name of new Set([...its.headers.keys(), ...mine.headers.keys()])) {
    // These follow from the body, and what is ignored there is ignored here.
    if (body.length === 0 && mine.body !== its.body && /^(?:content-length|etag)$/.test(name)) continue
    compare(name, mine.headers.get(name), its.headers.get(name))
  }
  return [...lines, ...body]
}

function inBody(mine: string, its: string, ignored: ReadonlySet<string>): string[] {
  if (mine === its) return []
  const [one, other] = [parsed(mine), parsed(its)]
  if (one === undefined || other === undefined) return [firstDifference(mine, its)]
  const lines = [...inValues('body', one, other, ignored)]
  if (lines.length > MOST_IN_BODY)
    lines.splice(MOST_IN_BODY, Infinity, `and ${lines.length - MOST_IN_BODY} more`)
  if (lines.length === 0 && ignored.size === 0) lines.push(`body, as text: ${firstDifference(mine, its)}`)
  return lines
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function* inValues(
  path: string,
  mine: unknown,
  its: unknown,
  ignored: ReadonlySet<string>,
): Generator<string> {
  if (!isContainer(mine) || !isContainer(its) || Array.isArray(mine) !== Array.isArray(its)) {
    if (JSON.stringify(mine) !== JSON.stringify(its)) yield `${path}: ${short(its)} -> ${short(mine)}`
    return
  }
  const [one, other] = [new Map(Object.entries(mine)), new Map(Object.entries(its))]
  for (const name of new Set([...other.keys(), ...one.keys()])) {
    if (!ignored.has(name)) yield* inValues(`${path}.${name}`, one.get(name), other.get(name), ignored)
  }
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function firstDifference(mine: string, its: string): string {
  let at = 0
  while (mine[at] === its[at]) at += 1
  const from = Math.max(0, at - 40)
  return `at character ${at}: ${short(its.slice(from))} -> ${short(mine.slice(from))}`
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}… (${text.length} characters)` : text
}
