/** Kinds of field, for use in definitions. A field that only one record has is defined with that record. */
import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import { type TString, Type } from 'typebox'
import { decimalsReason, fromUnits, MAX_AMOUNT, toUnits } from '../base/money.ts'
import {
  choice,
  elsewhere as elsewhereSchema,
  identifier,
  identifiers,
  line,
  listOf,
  moment,
  money as moneySchema,
  paragraphs as paragraphsSchema,
  span,
  withDefault,
} from '../base/schemas.ts'
import type { Settings } from '../base/settings.ts'
import { foldCase } from '../base/text.ts'
import { formatOptionalTime, formatTime, parseMoment, parseSpan } from '../base/time.ts'
import { ACCOUNTS, type Facts, neither, type Reference } from '../storage/table.ts'
import { type Filter, filter, type Samples } from './field.ts'

/** Matches rows whose column has one of these values. */
export const oneOf = (column: RawBuilder<unknown>, values: readonly unknown[]): Expression<SqlBool>[] => [
  sql<boolean>`${column} IN (${sql.join(values)})`,
]

/** Filters by one or many values. */
export const anyOf = (schema: ReturnType<typeof identifiers> | ReturnType<typeof listOf>): Filter =>
  filter(schema)({ keep: values => values as readonly unknown[], where: oneOf })

/** Filters by whether a column that is 0 for none has something, under a name for each. */
export const whether = (set: string, unset: string, description: string): Filter =>
  filter(choice([set, unset], description))({
    keep: value => value,
    where: (column, name) => [
      sql<boolean>`CASE WHEN ${column} = 0 THEN ${sql.lit(unset)} ELSE ${sql.lit(set)} END = ${name}`,
    ],
  })

/** Filters by folded text of which capitals and small letters are the same. */
export const inAnyCase = (schema: ReturnType<typeof listOf>): Filter => ({
  ...filter(schema)({ keep: values => (values as readonly string[]).map(foldCase), where: oneOf }),
  ofFolded: true,
})

/** Filters by codes of currencies. */
export const anyCurrency = (description: string): Filter =>
  filter(listOf(line(3), description))({
    keep: codes => (codes as readonly string[]).map(code => code.toUpperCase()),
    where: oneOf,
  })

/** Filters by the shops or other systems that records come from. */
export const anyContext = (description = 'Only records with one of these contexts.'): Filter =>
  filter(listOf(line(100), description))({
    keep: values => (values as readonly string[]).map(foldCase),
    where: oneOf,
  })

interface Bounds {
  readonly first?: number
  readonly last?: number
}

/** Filters by a span of time. */
const during = (description: string): Filter =>
  filter(span(`${description}: a day, or date[start] and date[end], inclusive.`))({
    keep: value => parseSpan(value as string) as Bounds,
    where: (column, { first, last }) => [
      ...(first === undefined ? [] : [sql<boolean>`${column} >= ${first}`]),
      ...(last === undefined ? [] : [sql<boolean>`${column} <= ${last}`]),
    ],
  })

/** Shared by whole-number columns. */
const shownNumber = {
  type: 'integer',
  nullable: false,
  ...neither,
  show: (value: number) => value,
  json: (value: number) => String(value),
} as const

const sentNumber = { ...shownNumber, keep: (value: number) => value } as const

/** Shared by text columns; '' if nothing was sent. */
const sentText = {
  type: 'text',
  nullable: false,
  initial: '',
  show: (value: string) => value,
  json: (value: string) => JSON.stringify(value),
  keep: (value: string) => value,
} as const

const pick = <T>(values: readonly T[], { random }: Samples): T =>
  values[Math.floor(random() * values.length)]!

const WORDS = 'autumn spring partner review banner letter market summer winter launch podcast guide'.split(
  ' ',
)

/**
 * One line of text, with search and filter; '' if omitted.
 * @param maxLength in characters
 */
export const text = (maxLength: number, description: string, facts: Facts) =>
  ({
    ...sentText,
    ...facts,
    folded: true,
    isName: true as boolean,
    wire: Type.String({ description }),
    create: Type.Optional(withDefault(line(maxLength, description), '')),
    edit: Type.Optional(line(maxLength, description)),
    filter: anyOf(listOf(line(maxLength), 'Only records with one of these values.')),
    sample: (samples: Samples) => pick(WORDS, samples),
  }) as const

/**
 * Text without folding; '' if omitted.
 * @param schema with a description where that of the argument is another one
 */
export const words = (schema: TString, description: string, facts: Facts) => {
  const sent = { description, ...schema }
  return {
    ...sentText,
    ...facts,
    wire: Type.String({ description }),
    create: Type.Optional(withDefault(sent, '')),
    edit: Type.Optional(sent),
    sample: () => '',
  } as const
}

const MAX_URL = 2048

/** The address of a page or a file; '' if omitted. Others turn it into a link, so it is one of the web. */
export const webAddress = (description: string) =>
  ({
    ...words(line(MAX_URL), description, neither),
    order: 'beginning',
    problem: (value: string) =>
      value === '' || /^https?:\/\//i.test(value)
        ? undefined
        : 'must begin with https:// or http://, or be empty.',
  }) as const

/** The record's name on another site, as `site:id`. */
export const elsewhere = words(
  elsewhereSchema(100, 'Identifier on another site, as site:id; a value without a colon is ignored.'),
  'Identifier on another site, as site:id; empty if there is none.',
  neither,
)

/** Text of several lines; '' if omitted. */
export const paragraphs = (maxLength: number, description: string, facts: Facts) =>
  ({
    ...sentText,
    ...facts,
    wire: Type.String({ description }),
    create: Type.Optional(withDefault(paragraphsSchema(maxLength, description), '')),
    edit: Type.Optional(paragraphsSchema(maxLength, description)),
    order: 'beginning',
    sample: (samples: Samples) => pick(WORDS, samples),
  }) as const

/** Orders rates by type, then value; records without a rate come first. */
export const byTypeThenValue = (type: RawBuilder<unknown>) => ({
  // Zero-padded, so that text order is numeric order.
  rate_by_type: {
    of: (rate: RawBuilder<unknown>) =>
      sql`coalesce(${type}, '') || ' ' || cast(coalesce(${rate}, -1) + 200000000000000 as text)`,
  },
})

/** One of a fixed set. */
export const status = <const T extends string>(values: readonly T[], initial: T, description = 'Status.') =>
  ({
    type: 'text',
    nullable: false,
    ...neither,
    wire: choice(values, description),
    create: Type.Optional(
      withDefault(choice(values, `${description.replace(/\.$/, '')}; ${initial} when omitted.`), initial),
    ),
    edit: Type.Optional(choice(values, description)),
    filter: anyOf(listOf(choice(values), 'Only records with one of these values.')),
    initial,
    show: (value: T) => value,
    json: (value: T) => `"${value}"`,
    keep: (value: T) => value,
    sample: (samples: Samples) => pick(values, samples),
  }) as const

/** The shop or other system that a record comes from. Stored and searched in lower case. */
export const context = (description: string, otherFilters: readonly string[] = []) =>
  ({
    ...words(line(100), description, neither),
    keep: foldCase,
    filter: anyContext(),
    filters: Object.fromEntries(otherFilters.map(name => [name, anyContext('Same as context.')])),
  }) as const

/** A required reference to a row of another table. */
export const reference = (table: string, description: string, rest: Omit<Reference, 'table'> = {}) =>
  ({
    ...sentNumber,
    references: { table, ...rest },
    wire: Type.Integer({ description }),
    create: identifier(description),
    edit: Type.Optional(identifier(description)),
    filter: anyOf(identifiers('Only records with one of these values.')),
    sample: ({ row }: Samples) => row(table),
  }) as const

/** Another record, which may be deleted; 0 means none. */
export const link = (description: string) => {
  const sent = {
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: `${description}; 0 for none.`,
  } as const
  return {
    ...sentNumber,
    wire: Type.Integer({ description: `${description}; 0 if there is none.` }),
    create: Type.Optional(Type.Integer({ ...sent, default: 0 })),
    edit: Type.Optional(Type.Integer(sent)),
    filter: anyOf(identifiers('Only records with one of these values.')),
    initial: 0,
    sample: () => 0,
  } as const
}

/** An optional reference to a row of another table: null in the database, and 0 for callers. */
export const optionalReference = (table: string, description: string, rest: Omit<Reference, 'table'> = {}) =>
  ({
    ...link(description),
    nullable: true,
    references: { table, ...rest },
    initial: null,
    show: (stored: number | null) => stored ?? 0,
    json: (stored: number | null) => String(stored ?? 0),
    keep: (value: number) => value || null,
    sample: (_samples: Samples) => null,
  }) as const

/** The account that created the record. */
export const creator = (description: string) =>
  ({
    ...shownNumber,
    references: { table: ACCOUNTS },
    made: 'actor',
    wire: Type.Integer({ description }),
    filter: anyOf(identifiers('Only records created by one of these accounts.')),
    sample: ({ row }: Samples) => row(ACCOUNTS),
  }) as const

/**
 * Creation time, for the filter and order `date`.
 * @param column its name in the database
 */
export const created = <const C extends string>(column: C, description: string) =>
  ({
    type: 'integer',
    nullable: false,
    ...neither,
    column,
    made: 'time',
    wire: Type.String({ description: `${description}: YYYY-MM-DD HH:MM:SS, UTC.` }),
    filters: { date: during(description) },
    show: (value: number) => formatTime(value),
    json: (value: number) => `"${formatTime(value)}"`,
    sample: ({ time }: Samples) => time,
  }) as const

/** Like `created`, but callers may send the time. */
export const dated = <const C extends string>(column: C, description: string) =>
  ({
    ...created(column, description),
    create: Type.Optional(moment(`${description}; now when omitted.`)),
    edit: Type.Optional(moment(`${description}.`)),
    keep: (value: string) => parseMoment(value)!.first,
  }) as const

/** Shared by times that may be missing: null in the database, and '' for callers. */
export const timeOrNone = {
  type: 'integer',
  nullable: true,
  ...neither,
  initial: null,
  show: formatOptionalTime,
  sample: () => null,
} as const

/**
 * A time that may be empty.
 * @param side the second that is meant by a day without a time of day
 * @param none what an empty one means, such as 'no limit'
 */
export const optionalTime = (side: 'first' | 'last', description: string, none: string) => {
  const argument = Type.Union([moment(`${description}.`), Type.Literal('')], {
    description: `${description}; empty for ${none}.`,
  })
  return {
    ...timeOrNone,
    wire: Type.String({
      description: `${description}: YYYY-MM-DD HH:MM:SS, UTC; empty if there is ${none}.`,
    }),
    create: Type.Optional(argument),
    edit: Type.Optional(argument),
    keep: (value: string) => (value === '' ? null : parseMoment(value)![side]),
  } as const
}

/** A count kept by the service; cannot be sent. */
export const count = (description: string) =>
  ({
    ...shownNumber,
    wire: Type.Integer({ description }),
    initial: 0,
    sample: () => 0,
  }) as const

const comparisons = ['=', '!=', '<', '<=', '>', '>='] as const
type Comparison = (typeof comparisons)[number]
type Range = { readonly min?: number; readonly max?: number }

const isExact = (value: number | undefined, { decimals }: Settings) =>
  value === undefined || toUnits(value, decimals) !== undefined

const amountFrom = (minimum: number) => {
  const amount = (description: string) => ({ ...moneySchema(description), minimum })
  return Type.Union(
    [
      amount('Exactly this amount, unless the accompanying comparison says otherwise.'),
      Type.Object({
        min: Type.Optional(amount('At least this amount.')),
        max: Type.Optional(amount('At most this amount.')),
      }),
    ],
    {
      description: `An amount from ${minimum} to ${MAX_AMOUNT}, or a range with [min] and [max], inclusive.`,
    },
  )
}

/** Filters by an amount: exact, by comparison, or a range. @param minimum the least amount that there is */
export const amountFilter = (minimum: number) =>
  filter(amountFrom(minimum))({
    problem: (value: number | Range, settings) => {
      const { min, max } = typeof value === 'number' ? { min: value, max: value } : value
      return isExact(min, settings) && isExact(max, settings) ? undefined : decimalsReason(settings)
    },
    keep: (value: number | Range, { decimals }, args, name) => {
      const comparison = (args[`${name}_compare`] ?? '=') as Comparison
      if (typeof value === 'number') return { [comparison]: toUnits(value, decimals)! }
      return {
        ...(value.min !== undefined && { '>=': toUnits(value.min, decimals)! }),
        ...(value.max !== undefined && { '<=': toUnits(value.max, decimals)! }),
      }
    },
    where: (column, value: Partial<Record<Comparison, number>>) =>
      comparisons
        .filter(compare => value[compare] !== undefined)
        .map(compare => sql<boolean>`${column} ${sql.raw(compare)} ${value[compare]}`),
  })

/** The comparison operator of `amount`. */
const comparisonFilter = filter(withDefault(choice(comparisons, 'How to compare the amount.'), '='))({
  keep: () => ({}),
  where: () => [],
})

/** An amount in the programme's currency, with at most its decimals; 0 if omitted. */
export const amount = (description: string) =>
  ({
    type: 'integer',
    nullable: false,
    personal: false,
    money: true,
    wire: Type.Number({ description }),
    create: Type.Optional(
      withDefault(moneySchema(`${description} No more decimals than the currency has.`), 0),
    ),
    edit: Type.Optional(moneySchema(`${description} No more decimals than the currency has.`)),
    filter: amountFilter(0),
    filters: { '*_compare': comparisonFilter },
    initial: 0,
    show: (value: number, { decimals }: Settings) => fromUnits(value, decimals),
    json: (value: number, { decimals }: Settings) => String(fromUnits(value, decimals)),
    keep: (value: number, { decimals }: Settings) => toUnits(value, decimals)!,
    problem: (value: number, settings: Settings) =>
      isExact(value, settings) ? undefined : decimalsReason(settings),
    sample: ({ random }: Samples) => 500 + Math.floor(random() ** 3 * 200_000),
  }) as const
