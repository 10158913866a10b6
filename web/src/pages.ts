/**
 * Every page of the area, in menu order. Routes, menu, names, the filters and links of the log, and the arguments of
 * requests follow from it; `test/pages.test.ts` compares it with the server's kinds of record.
 */

import ToolsIcon from '@mui/icons-material/HandymanOutlined'
import HomeIcon from '@mui/icons-material/HomeOutlined'
import ReportsIcon from '@mui/icons-material/InsightsOutlined'
import TrackingIcon from '@mui/icons-material/SensorsOutlined'
import SettingsIcon from '@mui/icons-material/TuneOutlined'
import { affiliates } from './affiliates/pages.ts'
import { conversions } from './conversions/pages.ts'
import { coupons } from './coupons/pages.ts'
import { creatives } from './creatives/pages.ts'
import { customers } from './customers/pages.ts'
import { paymentDetails } from './details/pages.ts'
import { exchangeRates } from './exchange-rates/pages.ts'
import { groups } from './groups/pages.ts'
import { links } from './links/pages.ts'
import { payouts } from './payouts/pages.ts'
import { referrals } from './referrals/pages.ts'
import { rules } from './rules/pages.ts'
import { payoutRuns } from './runs/pages.ts'
import { sources } from './sources/pages.ts'
import { lazily } from './ui/lazily.ts'
import type { OtherPage, RecordPages } from './ui/pages.ts'
import { users } from './users/pages.ts'
import { visits } from './visits/pages.ts'

export const recordPages: readonly RecordPages[] = [
  affiliates,
  groups,
  rules,
  coupons,
  exchangeRates,
  links,
  creatives,
  conversions,
  referrals,
  visits,
  customers,
  payouts,
  payoutRuns,
  paymentDetails,
  sources,
  users,
]

export const otherPages: readonly OtherPage[] = [
  {
    path: '/',
    name: 'Home',
    section: 'Start',
    icon: HomeIcon,
    page: lazily(() => import('./home/Home.tsx'), 'Home'),
  },
  {
    path: '/tracking',
    needs: 'tracking.read',
    name: 'Tracking',
    section: 'Earning',
    icon: TrackingIcon,
    page: lazily(() => import('./tracking/Tracking.tsx'), 'Tracking'),
  },
  {
    path: '/reports',
    needs: 'reports.read',
    name: 'Reports',
    section: 'Administration',
    icon: ReportsIcon,
    page: lazily(() => import('./reports/Reports.tsx'), 'Reports'),
  },
  {
    path: '/tools',
    name: 'Tools',
    section: 'Administration',
    icon: ToolsIcon,
    page: lazily(() => import('./tools/Tools.tsx'), 'FirstTool'),
    below: { ':tab': lazily(() => import('./tools/Tools.tsx'), 'Tools') },
  },
  {
    path: '/settings',
    needs: 'settings.read',
    name: 'Settings',
    section: 'Administration',
    icon: SettingsIcon,
    page: lazily(() => import('./settings/SettingsPage.tsx'), 'SettingsPage'),
  },
]

/** Kinds without pages: nobody works on them directly, or they are part of another record's page. */
export const withoutPages: readonly string[] = ['run_item']

/** @param name the resource or the kind */
export function pagesOf(name: string): RecordPages | undefined {
  return recordPages.find(({ resource, kind }) => resource === name || kind === name)
}

/** @returns the pages of the kind of record that a value of this name identifies: 'affiliate_id' */
export function pagesIdentifiedBy(name: string): RecordPages | undefined {
  const [, kind] = /^(\w+)_id$/.exec(name) ?? []
  return kind === undefined ? undefined : pagesOf(kind)
}
