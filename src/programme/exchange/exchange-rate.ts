/** The kind exchange rate: the value of one unit of a currency in another, from a time on. */
import { Type } from 'typebox'
import { currencies, problemOfCurrencyCode } from '../../base/currencies.ts'
import { line } from '../../base/schemas.ts'
import { type CrudAction, kind, type RowOf, type TableOf } from '../../records/kind.ts'
import { anyCurrency, dated, words } from '../../records/kinds-of-field.ts'
import { neither } from '../../storage/table.ts'

const MAX_DIGITS = 12

const currency = (description: string) =>
  ({
    ...words(line(3), description, neither),
    create: line(3, description),
    edit: Type.Optional(line(3, description)),
    filter: anyCurrency('Only rates with one of these currencies.'),
    problem: problemOfCurrencyCode,
    keep: (value: string) => value.toUpperCase(),
    sample: ({ random }: { random: () => number }) => currencies[Math.floor(random() * currencies.length)]!,
  }) as const

const into = currency('The currency to convert to, as an ISO 4217 code.')

const rateSchema = (description: string) =>
  Type.Union([Type.Number({ minimum: 0 }), Type.String({ ...line(2 * MAX_DIGITS + 1) })], {
    description,
  })

const NUMBER = /^\+?(?<units>\d*)(?:\.(?<decimals>\d*))?(?:e(?<exponent>[+-]?\d{1,3}))?$/i

/**
 * A number, or text that is one, as plain decimal text with every digit, without trailing and leading zeros. JavaScript
 * writes very small and very large numbers with an exponent.
 * @returns undefined if it is no number, is 0, or has more digits than a rate
 */
function canonical(value: number | string): string | undefined {
  const { units = '', decimals = '', exponent = '0' } = NUMBER.exec(String(value).trim())?.groups ?? {}
  const digits = units + decimals
  // Without digits as well.
  if (!/[1-9]/.test(digits)) return undefined
  const places = units.length + Number(exponent)
  const padded = digits.padStart(digits.length - places, '0').padEnd(places, '0')
  const point = Math.max(places, 0)
  const whole = padded.slice(0, point).replace(/^0+/, '')
  const fraction = padded.slice(point).replace(/0+$/, '')
  if (whole.length > MAX_DIGITS || fraction.length > MAX_DIGITS) return undefined
  return `${whole || '0'}${fraction && `.${fraction}`}`
}

const fields = {
  from_currency: currency('The currency to convert from, as an ISO 4217 code.'),
  to_currency: {
    ...into,
    create: Type.Optional(line(3, "The currency to convert to; the programme's when omitted.")),
    sample: () => 'USD',
  },
  rate: {
    type: 'text',
    nullable: false,
    ...neither,
    wire: Type.String({ description: 'Value of one unit of from_currency in to_currency, as decimal text.' }),
    create: rateSchema(
      'Value of one unit of from_currency in to_currency: a number or decimal text, with at most 12 digits before and 12 after the point.',
    ),
    edit: Type.Optional(rateSchema('New rate.')),
    order: false,
    show: (stored: string) => stored,
    keep: (value: number | string) => canonical(value)!,
    problem: (value: number | string) =>
      canonical(value) !== undefined
        ? undefined
        : 'must be a number above 0 with at most 12 digits before and 12 behind the point, such as 1.0842.',
    sample: ({ random }: { random: () => number }) => (0.5 + random()).toFixed(4),
  },
  date: {
    ...dated('valid_from', 'Time from which the rate applies'),
    sample: ({ time, random }: { time: number; random: () => number }) => time - Math.floor(random() * 1e8),
  },
} as const

export const exchangeRate = kind({
  name: 'exchange_rate',
  table: 'exchange_rates',
  fields,
  indexed: ['date'],
})

export type ExchangeRate = RowOf<typeof fields>

interface ExchangeRatesTable extends TableOf<typeof fields> {}

declare module '../../storage/tables.ts' {
  interface Tables {
    exchange_rates: ExchangeRatesTable
  }
}

declare module '../../events/schema.ts' {
  interface Actions {
    exchange_rate: CrudAction
  }
}
