/** The head of the audit log's chain as it leaves the machine: one JSON line. */
import type { Seal } from '../../events/store.ts'

export interface Head {
  readonly number: number
  readonly hash: string
  readonly sealed_at: string
}

const BEGINNING = '{"number":'

export function headOf({ number, hash, sealed_at }: Seal): Head {
  return { number, hash, sealed_at: new Date(sealed_at).toISOString() }
}

export function lineOf(head: Head): string {
  return `${JSON.stringify(head)}\n`
}

/** @returns undefined when the line is no head */
export function headIn(line: string): Head | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return isHead(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isHead(value: unknown): value is Head {
  if (typeof value !== 'object' || value === null) return false
  if (!('number' in value && 'hash' in value && 'sealed_at' in value)) return false
  const { number, hash, sealed_at } = value
  return Number.isSafeInteger(number) && typeof hash === 'string' && typeof sealed_at === 'string'
}

/** Whether the text is the beginning of a line whose writing was broken off, as by a full disk. */
export function isBrokenOff(text: string): boolean {
  return text.startsWith(BEGINNING.slice(0, text.length))
}
