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
