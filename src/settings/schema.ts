import { type Static, Type } from 'typebox'
import { lastingRate, line, listOf } from '../base/schemas.ts'
import { earning } from './earning.ts'
import { payouts } from './payouts.ts'
import { tracking } from './tracking.ts'

const rateTypeName = line(100)

/** Changeable settings; all are optional, and omitted ones stay. */
export const settingsChanges = Type.Object({
  default_rate: Type.Optional(
    lastingRate('Rate of affiliates who have none of their own, if no rule applies. It cannot be empty.'),
  ),
  default_rate_type: Type.Optional(
    line(
      100,
      'Rate type of affiliates who have none of their own: percentage (of the amount), flat (per sale), or another of rate_types, which stands for the commission rule of that name.',
    ),
  ),
  rate_types: Type.Optional(
    listOf(
      rateTypeName,
      'Rate types that an affiliate can have: percentage, flat, and names of commission rules. Those in use cannot be removed.',
    ),
  ),
  currency: Type.Optional(
    line(3, 'Currency of all amounts, as an ISO 4217 code. It cannot be changed once an amount is recorded.'),
  ),
  ...Type.Partial(Type.Object({ ...tracking.schemas, ...payouts.schemas, ...earning.schemas })).properties,
})

export type SettingsChanges = Static<typeof settingsChanges>

/** The settings as callers see them. */
export const settingsRecord = Type.Object({
  default_rate: Type.String({ description: 'Rate of affiliates who have none of their own.' }),
  default_rate_type: Type.String({ description: 'Rate type of affiliates who have none of their own.' }),
  rate_types: Type.Array(Type.String(), { description: 'Rate types that an affiliate can have.' }),
  currency: Type.String({ description: 'Currency of all amounts, as an ISO 4217 code.' }),
  decimals: Type.Integer({ description: 'Number of decimals of the currency.' }),
  ...tracking.shown,
  ...payouts.shown,
  ...earning.shown,
  currency_locked: Type.Boolean({ description: 'Whether the currency can no longer be changed.' }),
  currencies: Type.Array(Type.String(), {
    description: 'ISO 4217 codes of all currencies that can be chosen.',
  }),
})

export type SettingsRecord = Static<typeof settingsRecord>
