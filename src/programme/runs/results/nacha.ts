/**
 * Reads an ACH file of returns: entries (6) with the addendum (799) that says why each came back, after the record
 * formats of the Nacha Operating Rules. Notifications of change (798) say nothing of the money.
 */
import { unreadable } from './csv.ts'
import { type Entry, noteOf } from './entry.ts'

const WIDTH = 94

/** @throws Failure invalid_argument that names the line */
export function* readNacha(content: string): Generator<Entry> {
  let reference: string | undefined
  let isWhole = false
  for (const record of recordsOf(content)) {
    if (record.startsWith('7')) {
      if (reference !== undefined) yield entryOf(reference, record)
      continue
    }
    reference = record.startsWith('6') ? record.slice(39, 54).trim() : undefined
    isWhole ||= record.startsWith('9')
  }
  if (!isWhole) throw unreadable('is cut off: it has no record that begins with 9.')
}

function entryOf(reference: string, addendum: string): Entry {
  const isReturn = addendum.startsWith('799')
  return {
    reference,
    outcome: isReturn ? 'returned' : undefined,
    note: isReturn ? noteOf(addendum.slice(3, 6)) : '',
  }
}

function* recordsOf(content: string): Generator<string> {
  const lines = content.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)
  if (!lines[0]!.startsWith('1')) throw unreadable('must be an ACH file: its first record begins with 1.')
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue
    if (line.length !== WIDTH) {
      throw unreadable(`line ${index + 1} must have ${WIDTH} characters, as every record has.`)
    }
    yield line
  }
}
