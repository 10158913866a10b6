import type { RaRecord } from 'react-admin'
import type { Static } from 'typebox'
import type { exchangeRate } from '../../../src/programme/exchange/exchange-rate.ts'

export type ExchangeRate = Static<(typeof exchangeRate)['record']> & RaRecord<number>

export const nameOf = ({ from_currency, to_currency }: ExchangeRate) => `${from_currency} to ${to_currency}`
