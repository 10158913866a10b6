import polyglotI18nProvider from 'ra-i18n-polyglot'
import english from 'ra-language-english'

export const i18nProvider = polyglotI18nProvider(
  () => ({
    ...english,
    resources: {
      affiliates: { name: 'Affiliate |||| Affiliates', fields: {} },
      payouts: { name: 'Payout |||| Payouts', fields: {} },
      users: { name: 'User |||| Users', fields: {} },
    },
  }),
  'en',
  [{ locale: 'en', name: 'English' }],
  { allowMissing: true },
)
