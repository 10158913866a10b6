/**
 * CSV by RFC 4180, for spreadsheets. It begins with a byte order mark, without which Excel reads UTF-8 as something
 * else; readers made for programs skip it, and NDJSON is there for those that do not.
 */

/** The byte order mark. */
export const CSV_BEGINNING = '\uFEFF'

export const CSV_TYPE = 'text/csv; charset=utf-8'

/** One line. Null is an empty cell. */
export function csvLine(cells: readonly (string | number | null)[]): string {
  return `${cells.map(cell => (cell === null ? '' : csvCell(String(cell)))).join(',')}\r\n`
}

/** How a formula begins in a spreadsheet; the wide forms are taken for the others in some languages. */
const FORMULA = /^(?:[\t\r\n]|[\s"\u200b]*[=+\-@＝＋－＠])/
const PLAIN_NUMBER = /^[+-]?\d+(?:\.\d+)?$/
/** In many languages a spreadsheet splits a line at these, quoted or not, and a new cell begins behind them. */
const FORMULA_BEHIND_SEPARATOR = /([;|][\s"\u200b]*)(?=[=+\-@＝＋－＠])/g

/** Text that a spreadsheet would compute is made text by an apostrophe in front. */
function csvCell(text: string): string {
  const inside = text.replace(FORMULA_BEHIND_SEPARATOR, "$1'")
  const harmless = FORMULA.test(inside) && !PLAIN_NUMBER.test(inside) ? `'${inside}` : inside
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

/** A line of a file, and which one it is: a cell may hold line breaks, so that records and lines differ. */
export interface CsvRow {
  readonly line: number
  readonly cells: readonly string[]
}

/** What can't be read, and on which line. */
export class CsvError extends Error {
  readonly line: number
  constructor(line: number, message: string) {
    super(message)
    this.line = line
  }
}

const LONGEST_RECORD = 1_048_576

/** Reads a file of any length, piece by piece. Empty lines are passed over. @throws CsvError */
export async function* readCsv(pieces: AsyncIterable<string>): AsyncGenerator<CsvRow> {
  let rest = ''
  let line = 1
  let isFirst = true
  for await (const piece of pieces) {
    rest += isFirst && piece.startsWith(CSV_BEGINNING) ? piece.slice(1) : piece
    isFirst = false
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

/** Behind the first line break that is not in quotes; 0 when there is none. */
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

/** Quoted, with doubled quotes inside; or plain. */
const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n?$)/y

function cellsOf(record: string, line: number): string[] {
  const cells: string[] = []
  CELL.lastIndex = 0
  for (;;) {
    const match = CELL.exec(record)
    if (!match) throw new CsvError(line, 'has a quote in the middle of a cell, or one that is never closed.')
    cells.push(match[1]?.replaceAll('""', '"') ?? match[2]!)
    if (match[3] !== ',') return cells
  }
}
