import type { RequestContext } from '../../events/write.ts'
import { endpoint, type Resource } from '../../http/endpoint.ts'
import { bulkEndpoints } from '../../records/bulk.ts'
import { crud, listingOf, totalsOf } from '../../records/crud.ts'
import { type Payout, payout } from './payout.ts'
import { bulkKind, getNotes, rules, totalPayouts } from './rules.ts'
import { payoutNotes, payoutTotals } from './totals.ts'

const conflicts = ['payout_conflict', 'balance_exceeded'] as const
const plain = crud(payout, rules, { create: conflicts, edit: conflicts })

const become = (status: Payout['status']) => (context: RequestContext, payout_id: number) =>
  rules.edit(context, { payout_id, status })

export const payouts: Resource = {
  ...plain,
  endpoints: [
    ...plain.endpoints,
    endpoint({
      methods: ['GET'],
      path: '/payouts/{payout_id}/notes',
      permission: 'payouts.read',
      summary: 'Get the reference and note of a payout',
      arguments: payout.item,
      answer: { status: 200, schema: payoutNotes },
      failures: ['no_payout'],
      handle: async (call, { payout_id }) => ({
        status: 200,
        body: JSON.stringify(await getNotes(call, payout_id)),
      }),
    }),
    ...bulkEndpoints({
      kind: bulkKind,
      actions: { pay: become('paid'), fail: become('failed') },
      remove: rules.remove,
    }),
  ],
}

export const listing = listingOf(payout, rules)

/** What only the administration area shows of payouts. */
export const payoutsInArea: Resource = {
  ...payouts,
  endpoints: [totalsOf(payout, 'Get the number and sum of payouts', payoutTotals, totalPayouts)],
}
