/** The kind rule: commission rules as callers see them. Each record is one version of a series; the newest is current. */
import { Type } from 'typebox'
import { formatRate, MAX_RATE, RATE_DECIMALS, toUnits } from '../../base/money.ts'
import { choice, identifiers, line, listOf, moment } from '../../base/schemas.ts'
import type { Settings } from '../../base/settings.ts'
import { formatTime, parseMoment } from '../../base/time.ts'
import { type Samples, sql } from '../../records/field.ts'
import { type CrudAction, kind, type RowOf, type TableOf } from '../../records/kind.ts'
import {
  anyOf,
  byTypeThenValue,
  count,
  created,
  optionalReference,
  status,
  text,
} from '../../records/kinds-of-field.ts'
import { serviceOnly } from '../../records/service-fields.ts'
import { neither } from '../../storage/table.ts'
import {
  type Condition,
  fields as conditionFields,
  contradictionIn,
  numbers,
  problemOf,
  type SentCondition,
  texts,
} from './conditions.ts'
import type { Rule } from './model.ts'
import { kinds, type SaleKind } from './sale.ts'

const MAX_JSON = 65_535
const MAX_PRIORITY = 999_999
const DEFAULT_PRIORITY = 100
const MAX_DAYS = 3650

/** An optional integer; '' for none. */
const limit = (minimum: number, maximum: number, description: string) => {
  const argument = Type.Union([Type.Integer({ minimum, maximum }), Type.Literal('')], { description })
  return {
    type: 'integer',
    nullable: true,
    ...neither,
    wire: Type.Union([Type.Integer(), Type.Literal('')], { description }),
    create: Type.Optional(argument),
    edit: Type.Optional(argument),
    order: false,
    initial: null,
    show: (stored: number | null) => stored ?? ('' as const),
    keep: (value: number | '') => (value === '' ? null : value),
    sample: () => null,
  } as const
}

/** An optional time; '' for none. */
const bound = <const C extends string>(column: C, side: 'first' | 'last', description: string) => {
  const argument = Type.Union([moment(description), Type.Literal('')], {
    description: `${description}; empty: no limit.`,
  })
  return {
    type: 'integer',
    nullable: true,
    ...neither,
    column,
    wire: Type.String({
      description: `${description}: YYYY-MM-DD HH:MM:SS, UTC; empty when there is no limit.`,
    }),
    create: Type.Optional(argument),
    edit: Type.Optional(argument),
    order: false,
    initial: null,
    show: (stored: number | null) => (stored === null ? '' : formatTime(stored)),
    keep: (value: string) => (value === '' ? null : parseMoment(value)![side]),
    sample: () => null,
  } as const
}

const kindsSchema = listOf(choice(kinds), 'What it pays for; all of them when empty.')

const conditionSchema = Type.Object(
  {
    field: choice(conditionFields, 'What is looked at.'),
    is: Type.Optional(listOf(line(190), 'It has to be one of these.')),
    not: Type.Optional(listOf(line(190), 'It may be none of these.')),
    at_least: Type.Optional(Type.Number({ description: 'It has to be this or more.' })),
    below: Type.Optional(Type.Number({ description: 'It has to be less than this.' })),
  },
  { additionalProperties: false },
)

const conditionsSchema = Type.Array(conditionSchema, {
  maxItems: 20,
  description: `All have to be met. Text is compared in any case of letters (${texts.join(', ')}: is, not); numbers by their limits (${numbers.join(', ')}: at_least, below), amounts in the programme's currency.`,
})

const statuses = ['current', 'replaced', 'ended'] as const

const onlyThese = () => anyOf(identifiers('Only those with one of these.'))

const rateSchema = Type.Number({
  minimum: 0,
  maximum: MAX_RATE,
  format: 'rate',
  description:
    "How much: percent, or an amount in the programme's currency, for the sale or for each item. At most 4 decimals.",
})

const number = (description: string) => ({ ...count(description), sample: () => 1 })

const nameDescription = 'Names the rule. A rate type of the settings that has the same name stands for it.'

const fields = {
  name: {
    ...text(100, nameDescription, neither),
    create: line(100, nameDescription),
    edit: Type.Optional(line(100, 'New name.')),
    problem: (value: string) => (value.trim() === '' ? 'must name the rule.' : undefined),
    sample: ({ row }: Samples) => `rule ${row('users')}`,
  },
  series: {
    ...number('The same for all versions of a rule: the identifier of the first.'),
    filter: onlyThese(),
  },
  version: number('Which version of its series it is, counted from 1.'),
  status: {
    ...serviceOnly(
      status(
        statuses,
        'current',
        'Whether it is in force: the current version of its series, replaced by a later one, or ended.',
      ),
    ),
    filter: anyOf(listOf(choice(statuses), 'Only those with one of these statuses.')),
  },
  affiliate_id: {
    ...optionalReference('affiliates', 'The affiliate whom it is for', { person: true, outlives: true }),
    filter: onlyThese(),
  },
  group_id: {
    ...optionalReference('groups', 'The group that it is for', { outlives: true }),
    filter: onlyThese(),
  },
  priority: {
    ...number(
      'Rules of the same affiliate, of the same group and of the programme are tried from the lowest.',
    ),
    create: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_PRIORITY,
        default: DEFAULT_PRIORITY,
        description:
          'Rules of the same affiliate, of the same group and of the programme are tried from the lowest.',
      }),
    ),
    edit: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_PRIORITY, description: 'New priority.' })),
    initial: DEFAULT_PRIORITY,
    keep: (value: number) => value,
  },
  kinds: {
    type: 'text',
    nullable: false,
    ...neither,
    wire: kindsSchema,
    create: Type.Optional(kindsSchema),
    edit: Type.Optional(kindsSchema),
    order: false,
    initial: '',
    show: (stored: string) => kindsOf(stored),
    keep: (value: readonly string[]) => [...new Set(value)].join(','),
    sample: () => '',
  },
  conditions: {
    type: 'text',
    nullable: false,
    ...neither,
    wire: conditionsSchema,
    create: Type.Optional(conditionsSchema),
    edit: Type.Optional(conditionsSchema),
    order: false,
    initial: '[]',
    show: (stored: string): SentCondition[] => JSON.parse(stored),
    json: (stored: string) => stored,
    keep: (value: readonly SentCondition[]) => JSON.stringify(value),
    problem: problemOfConditions,
    sample: () => '[]',
  },
  rate_type: status(['percentage', 'flat', 'per_item'], 'percentage', 'How the rate is meant.'),
  rate: {
    type: 'integer',
    nullable: false,
    ...neither,
    wire: Type.String({ description: 'How much, as decimal text.' }),
    orders: byTypeThenValue(sql`rules.rate_type`),
    create: rateSchema,
    edit: Type.Optional(rateSchema),
    show: (stored: number) => formatRate(stored),
    json: (stored: number) => `"${formatRate(stored)}"`,
    keep: (value: number) => toUnits(value, RATE_DECIMALS)!,
    sample: () => 100_000,
  },
  base: status(
    ['net', 'gross'],
    'net',
    'What a percentage is taken of: what the customer pays without tax and shipping, or with them.',
  ),
  max_months: limit(
    1,
    1200,
    "For how many months after the customer's first order it pays; behind that the customer's orders earn nothing. Empty: no limit.",
  ),
  max_payments: limit(
    1,
    1_000_000,
    'Up to which order of a customer it pays, of all that the customer has bought, from 1; those behind it earn nothing. Empty: no limit.',
  ),
  hold_days: limit(
    0,
    MAX_DAYS,
    'How many days a referral is pending before it is unpaid by itself. Empty, or 0: it is unpaid at once.',
  ),
  from: bound('valid_from', 'first', 'The first second whose sales it is for'),
  until: bound('valid_until', 'last', 'The last second whose sales it is for'),
  date: created('created_at', 'When this version was made'),
} as const

export const rule = kind({ name: 'rule', table: 'rules', title: 'Commission rules', fields })

export type RuleRow = RowOf<typeof fields>

interface RulesTable extends TableOf<typeof fields> {}

declare module '../../storage/tables.ts' {
  interface Tables {
    rules: RulesTable
  }
}

declare module '../../events/schema.ts' {
  interface Actions {
    rule: CrudAction
  }
}

/** Converts a row for the engine. */
export function ruleOf(row: RuleRow): Rule {
  return {
    id: row.id,
    series: row.series,
    version: row.version,
    name: row.name,
    scope: scopeOf(row),
    affiliateId: row.affiliate_id,
    groupId: row.group_id,
    priority: row.priority,
    kinds: kindsOf(row.kinds),
    conditions: conditionsOf(row.conditions),
    type: row.rate_type,
    rate: row.rate,
    basis: row.base,
    mostMonths: row.max_months,
    mostPayments: row.max_payments,
    holdDays: row.hold_days,
    from: row.valid_from,
    until: row.valid_until,
  }
}

function scopeOf({ affiliate_id, group_id }: Pick<RuleRow, 'affiliate_id' | 'group_id'>): Rule['scope'] {
  if (affiliate_id !== null) return 'affiliate'
  return group_id !== null ? 'group' : 'programme'
}

function kindsOf(stored: string): SaleKind[] {
  const names: readonly string[] = stored.split(',')
  return kinds.filter(kind => names.includes(kind))
}

/** They were validated when they were stored. */
function conditionsOf(stored: string): Condition[] {
  return JSON.parse(stored)
}

/** First problem of the conditions beyond their schema. */
function problemOfConditions(
  conditions: readonly SentCondition[],
  { decimals }: Settings,
): string | undefined {
  if (JSON.stringify(conditions).length > MAX_JSON) return `must be at most ${MAX_JSON} characters of JSON.`
  for (const condition of conditions) {
    const problem = problemOf(condition, decimals)
    if (problem !== undefined) return problem
  }
  return contradictionIn(conditions)
}
