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
      line += record.split(LINE_BREAK).length - 1
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

/** Excel's "CSV (Macintosh)" ends lines with a carriage return alone. */
const LINE_BREAK = /\r\n?|\n/g

/** Index after the first line break outside quotes; 0 if there is none, or the rest of it may still come. */
function endOfRecord(text: string): number {
  let quotes = 0
  // Looked for once, and not from each line break on: a cell may have very many of those.
  let quote = text.indexOf('"')
  for (const { 0: found, index } of text.matchAll(LINE_BREAK)) {
    for (; quote >= 0 && quote < index; quote = text.indexOf('"', quote + 1)) quotes += 1
    const end = index + found.length
    if (quotes % 2 === 0) return found === '\r' && end === text.length ? 0 : end
  }
  return 0
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

/** A line by the names of its columns. */
export interface NamedRow {
  readonly line: number
  readonly values: Readonly<Record<string, string>>
  /** Why nobody can tell which cell is which. */
  readonly problem?: string
}

export interface Columns {
  /** What the lines are, for messages. */
  readonly of: string
  readonly known: readonly string[]
  readonly needed: readonly string[]
  /** Those that are passed over. */
  readonly ignored: readonly string[]
}

/**
 * Parses CSV whose first line names the columns.
 * @throws CsvError, also if the columns are not those that there may be
 */
export async function* readNamed(pieces: AsyncIterable<Buffer>, columns: Columns): AsyncGenerator<NamedRow> {
  let names: string[] | undefined
  for await (const { line, cells } of readCsv(pieces)) {
    if (!names) {
      names = namesIn({ line, cells }, columns)
      continue
    }
    const named = names.map((name, place) => [name, cells[place] ?? ''] as const)
    const values = Object.fromEntries(named.filter(([name]) => !columns.ignored.includes(name)))
    const isUneven = cells.length !== names.length
    yield {
      line,
      values,
      ...(isUneven && { problem: `has ${cells.length} cells, and the first line ${names.length}.` }),
    }
  }
  if (!names) throw new CsvError(1, 'must name the columns: the file is empty.')
}

function namesIn({ line, cells }: CsvRow, { of, known, needed, ignored }: Columns): string[] {
  const names = cells.map(cell => cell.trim().toLowerCase())
  const unknown = names.filter(name => !known.includes(name) && !ignored.includes(name))
  if (unknown.length > 0) {
    const listed = unknown.map(name => name || "'' (without a name)").join(', ')
    throw new CsvError(
      line,
      `has columns that are not known: ${listed}. Those that ${of} have are ${known.join(', ')}; name with --ignore what is to be passed over.`,
    )
  }
  if (new Set(names).size < names.length) throw new CsvError(line, 'names a column twice.')
  const missing = needed.filter(name => !names.includes(name))
  if (missing.length > 0) throw new CsvError(line, `must name the columns ${needed.join(', ')}.`)
  return names
}
