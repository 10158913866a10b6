import { crud, listingOf } from '../../records/crud.ts'
import { feature } from '../../records/feature.ts'
import { exchangeRate } from './exchange-rate.ts'
import { rules } from './rules.ts'

export const exchangeRates = feature(exchangeRate, {
  resource: crud(exchangeRate, rules, {
    create: ['exchange_rate_exists'],
    edit: ['exchange_rate_exists'],
  }),
  listing: listingOf(exchangeRate, rules),
})
