import { Type } from 'typebox'
import type { RequestContext } from '../../events/write.ts'
import { endpoint, type Resource } from '../../http/endpoint.ts'
import { bulkEndpoints } from '../../records/bulk.ts'
import { crud, listingOf } from '../../records/crud.ts'
import { narrowing } from '../../records/list.ts'
import { type Payout, payout } from './payout.ts'
import { many, rules, totalPayouts } from './rules.ts'
import { payoutTotals } from './totals.ts'

const plain = crud(payout, rules)

const become = (status: Payout['status']) => (context: RequestContext, payout_id: number) =>
  rules.edit(context, { payout_id, status })

export const payouts: Resource = {
  ...plain,
  endpoints: [
    ...plain.endpoints,
    ...bulkEndpoints({
      kind: payout,
      many,
      actions: { pay: become('paid'), fail: become('failed') },
      remove: rules.remove,
    }),
  ],
}

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
