import Icon from '@mui/icons-material/CurrencyExchange'
import { lazily } from '../ui/lazily.ts'
import type { RecordPages } from '../ui/pages.ts'

export const exchangeRates: RecordPages = {
  resource: 'exchange-rates',
  kind: 'exchange_rate',
  name: ['Exchange rate', 'Exchange rates'],
  section: 'Programme',
  icon: Icon,
  list: lazily(() => import('./ExchangeRateList.tsx'), 'ExchangeRateList'),
  create: lazily(() => import('./ExchangeRateForms.tsx'), 'ExchangeRateCreate'),
  edit: lazily(() => import('./ExchangeRateForms.tsx'), 'ExchangeRateEdit'),
  conflicts: { rest_exchange_rate_exists: { create: 'date', update: 'date' } },
}
