/** Reads outcomes from a table: one line of names, then one line for each payment. */
import { invalidArguments } from '../../../base/errors.ts'
import { type Outcome, outcomes } from '../outcome.ts'
import { amountIn } from './amount.ts'
import { type Entries, type Entry, noteOf } from './entry.ts'

const REFERENCES = ['reference', 'end_to_end_id', 'unique_id']
const NOTES = ['note', 'reason', 'message']
const AMOUNTS = ['amount']
const CURRENCIES = ['currency']
const SEPARATOR_LINE = /^"?sep=([,;\t])"?(?:\r\n|\n|\r)/i
const MOST_COLUMNS = 200
const MOST_CELL = 10_000
/** A cell of nothing but quotes, each of which is written twice, with what is around it. */
const MOST_WRITTEN = 2 * MOST_CELL + 4

const isOutcome = (text: string): text is Outcome => outcomes.some(outcome => outcome === text)

/** @throws Failure invalid_argument that names the line */
export function readCsv(content: string): Entries {
  const columns = {
    references: REFERENCES,
    statuses: ['status'],
    notes: NOTES,
    amounts: AMOUNTS,
    currencies: CURRENCIES,
  }
  return readTable(content, columns, 'reference and status', (text, line) => {
    const outcome = text.toLowerCase()
    if (isOutcome(outcome)) return outcome
    throw unreadable(`line ${line}: status must be one of ${outcomes.join(', ')}.`)
  })
}

interface Columns {
  readonly references: readonly string[]
  readonly statuses: readonly string[]
  readonly notes: readonly string[]
  readonly amounts: readonly string[]
  readonly currencies: readonly string[]
}

/**
 * @param required names the columns that there have to be, for the message that misses them
 * @param outcomeOf reads a status; undefined when it is not final
 * @throws Failure invalid_argument that names the line
 */
export function* readTable(
  content: string,
  columns: Columns,
  required: string,
  outcomeOf: (text: string, line: number) => Outcome | undefined,
): Generator<Entry | undefined> {
  const rows = rowsOf(content)
  const first = rows.next()
  const { reference, status, note, amount, currency, named } = placesIn(
    first.done ? [] : first.value.cells,
    columns,
    required,
  )
  const needed = 1 + Math.max(reference, status, amount, currency)
  for (const { cells, line, isEnded } of rows) {
    if (cells.every(cell => cell.trim() === '')) {
      yield undefined
      continue
    }
    // Excel leaves out the last cells of lines in which they are empty; what is cut off has no line break behind it.
    if (cells.length < (isEnded ? needed : named)) throw tooShort(line, cells.length, named)
    const word = cells[status]!.trim()
    if (word === '') throw unreadable(`line ${line} has no status.`)
    yield {
      reference: cells[reference]!.trim(),
      outcome: outcomeOf(word, line),
      note: noteOf(cells[note] ?? ''),
      ...amountIn(cells[amount] ?? '', cells[currency]),
    }
  }
}

/** Where the columns are that are read, -1 where there is none, and how many have a name. @throws Failure invalid_argument */
function placesIn(
  names: readonly string[],
  { references, statuses, notes, amounts, currencies }: Columns,
  required: string,
) {
  const head = names.map(cell => cell.trim().toLowerCase())
  // The first of the names that occurs.
  const place = (names: readonly string[]) =>
    names.map(name => head.indexOf(name)).find(index => index >= 0) ?? -1
  const [reference, status] = [place(references), place(statuses)]
  if (reference < 0 || status < 0) {
    const names = noteOf(head.join(', ')).slice(0, 100) || 'none'
    throw unreadable(
      `must begin with a line of names, among them ${required}, with commas, semicolons or tabs between them; it has ${names}.`,
    )
  }
  for (const index of [reference, status]) {
    // Which of the two tells what became of the payment, nobody knows.
    if (head.includes(head[index]!, index + 1)) {
      throw unreadable(`has two columns of the name ${head[index]}.`)
    }
  }
  return {
    reference,
    status,
    note: place(notes),
    amount: place(amounts),
    currency: place(currencies),
    named: head.findLastIndex(name => name !== '') + 1,
  }
}

/** The failure for a file that cannot be read. @param problem what is wrong, after "content:" */
export const unreadable = (problem: string) => invalidArguments({ content: problem })

interface Row {
  readonly cells: readonly string[]
  readonly line: number
  /** Whether a line break ends it, not the file. */
  readonly isEnded: boolean
}

/** RFC 4180, with commas, semicolons or tabs between cells, whichever the first line has, or names for Excel ("sep=;"). */
function* rowsOf(content: string): Generator<Row> {
  const text = content.startsWith('\uFEFF') ? content.slice(1) : content
  const [{ length: start } = '', named] = SEPARATOR_LINE.exec(text) ?? []
  const separator = named ?? separatorOf(text)
  const cell = new RegExp(`^(?:"((?:[^"]|"")*)"|([^"\\r\\n${separator}]*))(${separator}|\\r\\n|\\n|\\r|$)`)
  const end = /\r\n|\n|\r|$/
  for (let [line, at] = [named ? 2 : 1, start]; at < text.length; line += 1) {
    const beginning = text.slice(at, at + MOST_CELL + 2)
    const found = end.exec(beginning)!
    const plain = beginning.slice(0, found.index)
    if (plain.length <= MOST_CELL && !plain.includes('"')) {
      at += found.index + found[0].length
      yield { cells: bounded(plain.split(separator), line), line, isEnded: found[0] !== '' }
    } else {
      const { cells, end } = cellsOf(text, at, cell, separator, line)
      at = end
      yield { cells, line, isEnded: '\r\n'.includes(text[end - 1]!) }
    }
  }
}

/** The cells from a place to the end of their line, which a cell in quotes may go beyond, and that end. */
function cellsOf(text: string, start: number, cell: RegExp, separator: string, line: number) {
  const cells: string[] = []
  for (let at = start; ; ) {
    const written = text.slice(at, at + MOST_WRITTEN)
    const match = cell.exec(written)
    const isCut = at + MOST_WRITTEN < text.length
    if (!match && !isCut) {
      throw unreadable(`line ${line}: a cell must be closed by the quote that opens it.`)
    }
    if (!match || (isCut && match[0].length === written.length)) throw tooLong(line)
    const value = match[1]?.replaceAll('""', '"') ?? match[2]!
    if (value.length > MOST_CELL) throw tooLong(line)
    cells.push(value)
    bounded(cells, line)
    at += match[0].length
    if (match[3] !== separator) return { cells, end: at }
  }
}

function bounded(cells: string[], line: number): string[] {
  if (cells.length > MOST_COLUMNS) throw tooLong(line)
  return cells
}

const tooShort = (line: number, cells: number, named: number) =>
  unreadable(
    `line ${line} has ${cells} of the ${named} cells that the line of names has: the file is cut off, or a separator is missing.`,
  )

const tooLong = (line: number) => unreadable(`line ${line} is too long.`)

function separatorOf(text: string): string {
  const first = text.slice(0, 10_000).split(/[\r\n]/, 1)[0]!
  return [';', '\t'].find(separator => first.includes(separator) && !first.includes(',')) ?? ','
}
