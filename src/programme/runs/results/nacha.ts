/**
 * Reads an ACH file of returns: entries (6) with the addendum (799) that says why each came back, after the record
 * formats of the Nacha Operating Rules. Notifications of change (798) say nothing of the money.
 */
import { exactAmountIn } from './amount.ts'
import { unreadable } from './csv.ts'
import { type Entry, noteOf } from './entry.ts'

const WIDTH = 94

const withoutPadding = (digits: string) => digits.replace(/^0+(?=\d)/, '')

/** @throws Failure invalid_argument that names the line */
export function* readNacha(content: string): Generator<Entry | undefined> {
  let entry: Pick<Entry, 'reference' | 'amount'> | undefined
  let isWhole = false
  for (const record of recordsOf(content)) {
    const isAddendum = record.startsWith('7')
    yield isAddendum && entry ? entryOf(entry, record) : undefined
    if (isAddendum) continue
    entry = record.startsWith('6')
      ? {
          reference: record.slice(39, 54).trim(),
          ...exactAmountIn(`${withoutPadding(record.slice(29, 37))}.${record.slice(37, 39)}`, 'USD'),
        }
      : undefined
    isWhole ||= record.startsWith('9')
  }
  if (!isWhole) throw unreadable('is cut off: it has no record that begins with 9.')
}

function entryOf(entry: Pick<Entry, 'reference' | 'amount'>, addendum: string): Entry {
  const isReturn = addendum.startsWith('799')
  return {
    ...entry,
    outcome: isReturn ? 'returned' : undefined,
    note: isReturn ? noteOf(addendum.slice(3, 6)) : '',
  }
}

function* recordsOf(content: string): Generator<string> {
  const text = content.replace(/^\uFEFF/, '')
  if (!text.startsWith('1')) throw unreadable('must be an ACH file: its first record begins with 1.')
  const end = /\r\n|\n|\r|$/
  for (let [line, at] = [1, 0]; at < text.length; line += 1) {
    // A line that is longer is refused, so no more of it is looked at.
    const beginning = text.slice(at, at + WIDTH + 2)
    const found = end.exec(beginning)!
    const record = beginning.slice(0, found.index)
    at += found.index + found[0].length
    const isEmpty = record.trim() === ''
    if (!isEmpty && record.length !== WIDTH) {
      throw unreadable(`line ${line} must have ${WIDTH} characters, as every record has.`)
    }
    // Also an empty line is a step, after which others may have their turn.
    yield isEmpty ? '' : record
  }
}
