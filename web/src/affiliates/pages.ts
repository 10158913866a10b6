import Icon from '@mui/icons-material/GroupOutlined'
import { lazily } from '../ui/lazily.ts'
import type { RecordPages } from '../ui/pages.ts'
import { type Affiliate, nameOf } from './name.ts'

export const affiliates: RecordPages = {
  resource: 'affiliates',
  kind: 'affiliate',
  name: ['Affiliate', 'Affiliates'],
  section: 'Programme',
  icon: Icon,
  list: lazily(() => import('./AffiliateList.tsx'), 'AffiliateList'),
  create: lazily(() => import('./AffiliateForms.tsx'), 'AffiliateCreate'),
  edit: lazily(() => import('./AffiliateForms.tsx'), 'AffiliateEdit'),
  show: lazily(() => import('./AffiliateShow.tsx'), 'AffiliateShow'),
  titleOf: (affiliate: Affiliate) => `${nameOf(affiliate)}, ${affiliate.user?.user_email ?? ''}`,
  more: {
    ':id/ledger': lazily(() => import('../ledger/LedgerPage.tsx'), 'LedgerPage'),
    deleted: lazily(() => import('../ledger/DeletedButOwed.tsx'), 'DeletedButOwed'),
  },
  reads: { user: 1, effective: 1, group: 1 },
  below: { notes: 'notes' },
  adds: ({ user, group }: Affiliate) => ({
    account_email: user?.user_email ?? '',
    group_id: group?.group_id || null,
  }),
  conflicts: {
    existing_user_email: { create: 'payment_email', update: 'account_email' },
    existing_user_login: { create: 'username', update: 'username' },
    affwp_rest_affiliate_user_exists: { create: 'user_id', update: 'user_id' },
  },
}
