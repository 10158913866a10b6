/** What people do with affiliates and with what these earn and are paid, in a real browser. */
import { affiliateScenarios } from './browser/affiliates.ts'
import { conversionScenarios } from './browser/conversions.ts'
import { payoutScenarios } from './browser/payouts.ts'
import { referralScenarios } from './browser/referrals.ts'
import { describeInWorld } from './browser/world.ts'

describeInWorld(
  'records in a browser',
  affiliateScenarios,
  payoutScenarios,
  referralScenarios,
  conversionScenarios,
)
