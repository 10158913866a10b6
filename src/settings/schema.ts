import { type Static, Type } from 'typebox'
import { line, listOf, rate } from '../base/schemas.ts'
import { earning } from './earning.ts'
import { payouts } from './payouts.ts'
import { tracking } from './tracking.ts'

const rateTypeName = line(100)

/** Changeable settings; all are optional, and omitted ones stay. */
export const settingsChanges = Type.Object({
  default_rate: Type.Optional(
    rate('The rate of affiliates without one of their own, where no rule applies. It cannot be empty.'),
  ),
  default_rate_type: Type.Optional(
    line(
      100,
      'The rate type of affiliates without one of their own: percentage of the amount, flat for each sale, or another one of rate_types, the commission rule of that name.',
    ),
  ),
  rate_types: Type.Optional(
    listOf(
      rateTypeName,
      'The rate types that an affiliate can have: percentage, flat, and names of commission rules. Those in use stay.',
    ),
  ),
  currency: Type.Optional(
    line(
      3,
      'The currency of every amount, as an ISO 4217 code. It cannot change once an amount is recorded.',
    ),
  ),
  ...Type.Partial(Type.Object({ ...tracking.schemas, ...payouts.schemas, ...earning.schemas })).properties,
})

export type SettingsChanges = Static<typeof settingsChanges>

/** The settings as callers see them. */
export const settingsRecord = Type.Object({
  default_rate: Type.String({ description: 'The rate of affiliates that have none of their own.' }),
  default_rate_type: Type.String({ description: 'The rate type of affiliates that have none of their own.' }),
  rate_types: Type.Array(Type.String(), { description: 'The rate types that an affiliate can have.' }),
  currency: Type.String({ description: 'The currency of every amount, as an ISO 4217 code.' }),
  decimals: Type.Integer({ description: "Decimals of the currency's minor unit." }),
  ...tracking.shown,
  ...payouts.shown,
  ...earning.shown,
  currency_locked: Type.Boolean({ description: 'Whether the currency cannot change any more.' }),
  currencies: Type.Array(Type.String(), { description: 'Every currency in use.' }),
})

export type SettingsRecord = Static<typeof settingsRecord>
