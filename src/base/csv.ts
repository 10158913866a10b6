/**
 * CSV (RFC 4180) for spreadsheets. Starts with a byte order mark, without which Excel does not read it as UTF-8; most
 * CSV parsers skip it, and NDJSON serves those that do not.
 */
import { isUtf8 } from 'node:buffer'

/** Byte order mark. */
export const CSV_BEGINNING = '\uFEFF'

export const CSV_TYPE = 'text/csv; charset=utf-8'

/** One record. Null is an empty cell. */
export function csvLine(cells: readonly (string | number | null)[]): string {
  return `${cells.map(cell => (cell === null ? '' : csvCell(String(cell)))).join(',')}\r\n`
}

/** How a formula begins. Some locales accept the full-width characters as well. */
const FORMULA = /^(?:[\t\r\n]|[\s"\u200b]*[=+\-@＝＋－＠])/
const PLAIN_NUMBER = /^[+-]?\d+(?:\.\d+)?$/
/** In many locales a spreadsheet splits at these separators even inside quotes, so that a formula may follow one. */
const FORMULA_BEHIND_SEPARATOR = /([;|][\s"\u200b]*)(?=[=+\-@＝＋－＠])/g

/** Prevents formula injection: an apostrophe turns such a cell into plain text. */
function csvCell(text: string): string {
  const inside = text.replace(FORMULA_BEHIND_SEPARATOR, "$1'")
  const harmless = FORMULA.test(inside) && !PLAIN_NUMBER.test(inside) ? `'${inside}` : inside
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

/** A record with the line it starts on. The two counts differ, since a quoted cell may contain line breaks. */
export interface CsvRow {
  readonly line: number
  readonly cells: readonly string[]
}

/** Malformed CSV, with the line of the problem. */
export class CsvError extends Error {
  readonly line: number
  constructor(line: number, message: string) {
    super(message)
    this.line = line
  }
}

const LONGEST_RECORD = 1_048_576

/**
 * Parses a stream of any length, piece by piece. Skips empty lines.
 * @throws CsvError, also if a record is not encoded as UTF-8: what it means instead, nobody can tell
 */
export async function* readCsv(pieces: AsyncIterable<Buffer>): AsyncGenerator<CsvRow> {
  let rest = ''
  let line = 1
  for await (const piece of pieces) {
    // A character for each byte, so that a piece may end within one.
    rest += piece.toString('latin1')
    for (let end = endOfRecord(rest); end > 0; end = endOfRecord(rest)) {
      const record = rest.slice(0, end)
      rest = rest.slice(end)
      if (record.trim() !== '') yield { line, cells: cellsOf(record, line) }
      line += record.split('\n').length - 1
    }
    if (rest.length > LONGEST_RECORD) {
      throw new CsvError(line, 'is longer than 1 MiB, or has a quote that is never closed.')
    }
  }
  if (rest.trim() !== '') yield { line, cells: cellsOf(rest, line) }
}

/** @param bytes a character for each */
function textOf(bytes: string, line: number): string {
  const encoded = Buffer.from(bytes, 'latin1')
  if (!isUtf8(encoded)) {
    throw new CsvError(line, 'is not encoded as UTF-8: save the file as CSV in UTF-8, and try again.')
  }
  const text = encoded.toString()
  return line === 1 && text.startsWith(CSV_BEGINNING) ? text.slice(CSV_BEGINNING.length) : text
}

/** Index after the first line break outside quotes; 0 if there is none. */
function endOfRecord(text: string): number {
  let quotes = 0
  for (let from = 0; ; ) {
    const end = text.indexOf('\n', from)
    if (end < 0) return 0
    for (let at = text.indexOf('"', from); at >= 0 && at < end; at = text.indexOf('"', at + 1)) quotes += 1
    if (quotes % 2 === 0) return end + 1
    from = end + 1
  }
}

/** A quoted cell, with inner quotes doubled, or a plain one. */
const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n?$)/y

/** @param bytes a character for each */
function cellsOf(bytes: string, line: number): string[] {
  const record = textOf(bytes, line)
  const cells: string[] = []
  CELL.lastIndex = 0
  for (;;) {
    const match = CELL.exec(record)
    if (!match) throw new CsvError(line, 'has a quote in the middle of a cell, or one that is never closed.')
    cells.push(match[1]?.replaceAll('""', '"') ?? match[2]!)
    if (match[3] !== ',') return cells
  }
}
