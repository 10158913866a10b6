/** Numbers as they are typed and written in the browser's language. */

/** Whether the browser's language writes 0,5 for a half. */
export const hasDecimalComma = new Intl.NumberFormat().formatToParts(0.5).some(({ value }) => value === ',')
/** What is typed before decimals, in words. */
export const DECIMAL_MARK = hasDecimalComma ? 'comma' : 'point'
const WITH_COMMA = /^\s*-?(?:\d+|\d{1,3}(?:[.\s]\d{3})+),\d+\s*$/

/** The digits from 0 to 9, as in Arabic. */
const DIGITS = [...new Intl.NumberFormat(undefined, { useGrouping: false }).format(1234567890)]
const OWN_DIGITS = new Map(DIGITS.map((digit, index) => [digit, String((index + 1) % 10)]))
const ARABIC_MARKS = new Map([
  ['٫', '.'],
  ['٬', ''],
])

const withUsualDigits = (typed: string): string =>
  Array.from(typed, mark => OWN_DIGITS.get(mark) ?? ARABIC_MARKS.get(mark) ?? mark).join('')

/**
 * A number as the server takes it, where the browser's language writes 1.234,5 for 1234.5, or has digits of its own; else as
 * it is typed.
 */
export function withPoint(typed: string): string {
  const text = withUsualDigits(typed)
  return hasDecimalComma && WITH_COMMA.test(text) ? text.replace(/[.\s]/g, '').replace(',', '.') : text
}

const IN_SENTENCE = /\d+\.\d+(?= [A-Z]{3}\b)|(?<=: |left )\d+\.\d+(?=%)/g

/** A sentence of the server, with the amounts and rates in it as they are written here. What is in quotes is somebody's own. */
export const sentenceHere = (sentence: string): string =>
  hasDecimalComma
    ? sentence
        .split(/(“[^”]*”)/)
        .map(part => (part.startsWith('“') ? part : part.replace(IN_SENTENCE, it => it.replace('.', ','))))
        .join('')
    : sentence

const figures = new Intl.NumberFormat(undefined, { maximumFractionDigits: 20 })
/** A number that is no amount of money, with all its decimals. */
export const figure = (text: string): string => (isDecimal(text) ? figures.format(text) : text)

export const isDecimal = (text: string): text is `${number}` => /^-?\d+(\.\d+)?$/.test(text)
