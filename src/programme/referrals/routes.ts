import { Failure } from '../../base/errors.ts'
import type { RequestContext } from '../../events/write.ts'
import { createLines } from '../../http/create-lines.ts'
import { CREATE, createdAnswer, type Endpoint, endpoint, type Resource } from '../../http/endpoint.ts'
import { bulkEndpoints } from '../../records/bulk.ts'
import { answerCreated, crud, listingOf, totalsOf } from '../../records/crud.ts'
import { createGathered } from '../../records/gathered.ts'
import { explain, explanationSchema } from './explanation.ts'
import { referral } from './referral.ts'
import { bulkKind, type Created, lockIfJudged, rules } from './rules.ts'
import { createArguments, type EditArguments } from './schema.ts'
import { referralTotals, totalReferrals } from './totals.ts'

const { create: createOne, createMany, ...others } = rules
const plain = crud(
  referral,
  { ...others, create: async (context, args) => (await createOne(context, args)).row },
  {
    edit: ['referral_conflict', 'reference_taken', 'balance_exceeded'],
    delete: ['referral_conflict'],
  },
)

/**
 * Unlike the plain endpoint, it accepts the affiliate by account, and answers a repeated request with the existing
 * referral.
 */
const create: Endpoint = endpoint({
  methods: CREATE,
  path: '/referrals',
  permission: 'referrals.create',
  summary: 'Create a referral',
  arguments: createArguments,
  answer: { ...createdAnswer(referral.record), repeats: true },
  failures: ['reference_taken', 'balance_exceeded'],
  lines: createLines<Created>({
    arguments: createArguments,
    result: { referral: referral.record },
    problems: rules.problems,
    create: createOne,
    createMany,
    lockAll: lockIfJudged,
    tell: ({ row, replayed }, settings) => ({
      members: `"referral":${referral.write(row, settings)}`,
      replayed,
    }),
  }),
  check: rules.problems,
  handle: async (call, args) => {
    const { created, settings } = await createGathered(referral.name, call, args, rules)
    const { row, replayed } = created
    if (!replayed) return answerCreated(call, referral, row, settings)
    return {
      status: 200,
      headers: { 'Idempotent-Replayed': 'true' },
      body: referral.write(row, settings),
    }
  },
})

const explanation: Endpoint = endpoint({
  methods: ['GET'],
  path: '/referrals/{referral_id}/explanation',
  permission: 'referrals.read',
  summary: 'Explain a referral',
  arguments: referral.item,
  answer: { status: 200, schema: explanationSchema },
  failures: ['no_referral'],
  handle: async (call, { referral_id }) => ({
    status: 200,
    body: JSON.stringify(await explain(call, referral_id)),
  }),
})

type Status = NonNullable<EditArguments['status']>

const become = (status: Status) => (context: RequestContext, referral_id: number, reason: object) =>
  rules.edit(context, { referral_id, status, ...reason })

/** A referral that is paid without a payout would be owed once more. That is not for a bulk action to decide. */
async function approve(context: RequestContext, referral_id: number, reason: object) {
  const { status, payout_id } = await rules.get(context, referral_id)
  if (status === 'paid' && payout_id === 0) {
    throw new Failure('referral_conflict', {
      message: 'A referral that is paid is not approved: edit its status if it was not.',
      data: { from: status, to: 'unpaid' },
    })
  }
  return become('unpaid')(context, referral_id, reason)
}

const { rejection_reason } = referral.edit.properties

const bulk = bulkEndpoints({
  kind: bulkKind,
  actions: { approve, reject: become('rejected'), pay: become('paid') },
  actionArguments: { rejection_reason },
  remove: rules.remove,
})

export const referrals: Resource = {
  ...plain,
  endpoints: [
    ...plain.endpoints.map(plainEndpoint =>
      plainEndpoint.permission === create.permission ? create : plainEndpoint,
    ),
    ...bulk,
    explanation,
  ],
}

/** Endpoints of the administration area only. */
export const referralsInArea: Resource = {
  ...referrals,
  endpoints: [
    totalsOf(referral, 'Get the number and sum of referrals by status', referralTotals, totalReferrals),
  ],
}

export const listing = listingOf(referral, rules)
