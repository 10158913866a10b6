/** The kind rule: commission rules as callers see them. Each record is one version of a series; the newest is current. */
import { Type } from 'typebox'
import { formatRate, MAX_RATE, RATE_DECIMALS, toUnits } from '../../base/money.ts'
import { choice, identifiers, line, listOf } from '../../base/schemas.ts'
import type { Settings } from '../../base/settings.ts'
import { type Samples, sql } from '../../records/field.ts'
import { type CrudAction, kind, type RowOf, type TableOf } from '../../records/kind.ts'
import {
  anyOf,
  byTypeThenValue,
  count,
  created,
  optionalReference,
  optionalTime,
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

const kindsSchema = listOf(choice(kinds), 'Kinds of conversions that it pays for; all of them if empty.')

const conditionSchema = Type.Object(
  {
    field: choice(conditionFields, 'What the condition tests.'),
    is: Type.Optional(listOf(line(190), 'Must be one of these.')),
    not: Type.Optional(listOf(line(190), 'Must be none of these.')),
    at_least: Type.Optional(Type.Number({ description: 'Must be this or more.' })),
    below: Type.Optional(Type.Number({ description: 'Must be less than this.' })),
  },
  { additionalProperties: false },
)

const conditionsSchema = Type.Array(conditionSchema, {
  maxItems: 20,
  description: `All of them must be met. Text is compared ignoring case (${texts.join(', ')}: is, not), numbers by limits (${numbers.join(', ')}: at_least, below), with amounts in the programme's currency.`,
})

const statuses = ['current', 'replaced', 'ended'] as const

const onlyThese = () => anyOf(identifiers('Only rules with one of these values.'))

const rateSchema = Type.Number({
  minimum: 0,
  maximum: MAX_RATE,
  format: 'rate',
  description:
    "A percentage, or an amount in the programme's currency for each sale or item. At most 4 decimals.",
})

const number = (description: string) => ({ ...count(description), sample: () => 1 })

const nameDescription =
  'Name of the rule. A rate type in the settings that has the same name stands for the rule.'

const fields = {
  name: {
    ...text(100, nameDescription, neither),
    create: line(100, nameDescription),
    edit: Type.Optional(line(100, 'New name.')),
    problem: (value: string) => (value.trim() === '' ? 'must name the rule.' : undefined),
    sample: ({ row }: Samples) => `rule ${row('users')}`,
  },
  series: {
    ...number('Identifier of the first version of the rule, the same for all its versions.'),
    filter: onlyThese(),
  },
  version: number('Number of the version within its series, from 1.'),
  status: {
    ...serviceOnly(
      status(
        statuses,
        'current',
        'Whether the version is in force: the current one of its series, replaced by a later one, or ended.',
      ),
    ),
    filter: anyOf(listOf(choice(statuses), 'Only rules with one of these statuses.')),
  },
  affiliate_id: {
    ...optionalReference('affiliates', 'The affiliate to whom the rule applies', {
      person: true,
      outlives: true,
    }),
    filter: onlyThese(),
  },
  group_id: {
    ...optionalReference('groups', 'The group to which the rule applies', { outlives: true }),
    filter: onlyThese(),
  },
  priority: {
    ...number(
      'Among the rules for one affiliate, for one group, or for the whole programme, those with the lowest number are tried first.',
    ),
    create: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_PRIORITY,
        default: DEFAULT_PRIORITY,
        description:
          'Among the rules for one affiliate, for one group, or for the whole programme, those with the lowest number are tried first.',
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
  rate_type: status(
    ['percentage', 'flat', 'per_item'],
    'percentage',
    'Whether the rate is a percentage, a flat amount per sale, or an amount per item.',
  ),
  rate: {
    type: 'integer',
    nullable: false,
    ...neither,
    wire: Type.String({ description: 'Rate, as decimal text.' }),
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
    'What a percentage applies to: what the customer pays without tax and shipping (net), or with them (gross).',
  ),
  max_months: limit(
    1,
    1200,
    "Number of months after the customer's first order for which it pays; later orders of the customer earn nothing. Empty for no limit.",
  ),
  max_payments: limit(
    1,
    1_000_000,
    'Number of orders of a customer for which it pays, counted from the first of all that the customer has made; later orders earn nothing. Empty for no limit.',
  ),
  hold_days: limit(
    0,
    MAX_DAYS,
    'Number of days for which a referral is pending before it becomes unpaid automatically. Empty or 0: it is unpaid at once.',
  ),
  from: {
    ...optionalTime('first', 'The rule applies to sales from this time on', 'no limit'),
    column: 'valid_from',
    order: false,
  },
  until: {
    ...optionalTime('last', 'The rule applies to sales up to and including this time', 'no limit'),
    column: 'valid_until',
    order: false,
  },
  date: created('created_at', 'When this version was created'),
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
