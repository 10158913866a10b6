import { Type } from 'typebox'
import { endpoint, type Resource } from '../../http/endpoint.ts'
import { crud, listingOf } from '../../records/crud.ts'
import { narrowing } from '../../records/list.ts'
import { payout } from './payout.ts'
import { rules, totalPayouts } from './rules.ts'
import { payoutTotals } from './totals.ts'

export const payouts = crud(payout, rules)

export const listing = listingOf(payout, rules)

/** What only the administration area shows of payouts. */
export const payoutsInArea: Resource = {
  ...payouts,
  endpoints: [
    endpoint({
      methods: ['GET'],
      path: '/payouts/totals',
      permission: 'payouts.read',
      summary: 'Count and sum up payouts',
      arguments: Type.Object(narrowing(payout.filters)),
      answer: { status: 200, schema: payoutTotals },
      check: async (call, args) => payout.filterProblems(args, await call.settings.current()),
      handle: async (call, args) => ({
        status: 200,
        body: JSON.stringify(await totalPayouts(call, args)),
      }),
    }),
  ],
}
