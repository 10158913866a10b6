/** The kind exchange rate: the value of one unit of a currency in another, from a time on. */
import { Type } from 'typebox'
import { currencies, problemOfCurrencyCode } from '../../base/currencies.ts'
import { compared, parseFraction, ZERO } from '../../base/fraction.ts'
import { line, listOf } from '../../base/schemas.ts'
import { type CrudAction, kind, type RowOf, type TableOf } from '../../records/kind.ts'
import { anyOf, dated, words } from '../../records/kinds-of-field.ts'
import { neither } from '../../storage/table.ts'

const MAX_DIGITS = 12

const currency = (description: string) =>
  ({
    ...words(line(3), description, neither),
    create: line(3, description),
    edit: Type.Optional(line(3, description)),
    filter: anyOf(listOf(line(3), 'Only those of these currencies.')),
    problem: problemOfCurrencyCode,
    keep: (value: string) => value.toUpperCase(),
    sample: ({ random }: { random: () => number }) => currencies[Math.floor(random() * currencies.length)]!,
  }) as const

const into = currency('The currency that it becomes, as an ISO 4217 code.')

const rateSchema = (description: string) =>
  Type.Union([Type.Number({ minimum: 0 }), Type.String({ ...line(2 * MAX_DIGITS + 1) })], {
    description,
  })

/** A number as plain decimal text: JavaScript writes very small ones with an exponent. */
const plain = (value: number | string): string =>
  typeof value === 'string'
    ? value.trim()
    : /e/.test(String(value))
      ? value.toFixed(MAX_DIGITS).replace(/\.?0+$/, '')
      : String(value)

const fields = {
  from_currency: currency('The currency that is exchanged, as an ISO 4217 code.'),
  to_currency: {
    ...into,
    create: Type.Optional(line(3, "The currency that it becomes; the programme's when omitted.")),
    sample: () => 'USD',
  },
  rate: {
    type: 'text',
    nullable: false,
    ...neither,
    wire: Type.String({ description: 'What one unit of the one is in the other, as decimal text.' }),
    create: rateSchema(
      'What one unit of the one is in the other: a number or decimal text, at most 12 digits before and behind the point.',
    ),
    edit: Type.Optional(rateSchema('New rate.')),
    order: false,
    show: (stored: string) => stored,
    keep: (value: number | string) => canonical(plain(value)),
    problem: (value: number | string) =>
      isRate(plain(value))
        ? undefined
        : 'must be a number above 0 with at most 12 digits before and 12 behind the point, such as 1.0842.',
    sample: ({ random }: { random: () => number }) => (0.5 + random()).toFixed(4),
  },
  date: {
    ...dated('valid_from', 'From when on it applies'),
    sample: ({ time, random }: { time: number; random: () => number }) => time - Math.floor(random() * 1e8),
  },
} as const

function isRate(text: string): boolean {
  const value = /^\d{1,12}(\.\d{1,12})?$/.test(text) ? parseFraction(text) : undefined
  return value !== undefined && compared(value, ZERO) > 0
}

/** Without trailing and leading zeros. */
function canonical(text: string): string {
  const [units, decimals = ''] = text.split('.')
  const fraction = decimals.replace(/0+$/, '')
  return `${BigInt(units!)}${fraction && `.${fraction}`}`
}

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
