import { Type } from 'typebox'
import { type Call, endpoint, type Resource } from '../../http/endpoint.ts'
import { answerList, type ListArguments, type Listing, listArguments, narrowing } from '../../records/list.ts'
import { renderer } from '../../records/render.ts'
import * as rules from './rules.ts'
import {
  type CreateArguments,
  createArguments,
  editArguments,
  type FilterArguments,
  filterArguments,
  itemArguments,
  type PayoutRecord,
  payoutRecord,
  payoutTotals,
} from './schema.ts'
import { orders, type Payout } from './store.ts'

const deletion = Type.Object({ deleted: Type.Boolean(), previous: payoutRecord })
const render = renderer<PayoutRecord>(payoutRecord)
const fields = Object.keys(payoutRecord.properties)

export const listing: Listing<Payout, ListArguments & FilterArguments> = {
  orders,
  fields,
  page: rules.listPayouts,
  count: rules.countPayouts,
  identifier: row => row.id,
  records: async call => {
    const settings = await call.settings.current()
    return row => rules.recordOf(row, settings)
  },
  render,
}

const checkPayout = async (call: Call, args: Partial<CreateArguments>) =>
  rules.problemsOfPayout(call.database.reader, await call.settings.current(), args)

const checkFilters = async (call: Call, args: FilterArguments) =>
  rules.problemsOfFilters(await call.settings.current(), args)

export const payouts: Resource = {
  name: 'payouts',
  title: 'Payouts',
  record: payoutRecord,
  missing: 'no_payout',
  replayed: true,
  endpoints: [
    endpoint({
      methods: ['GET'],
      path: '/payouts',
      permission: 'payouts.read',
      summary: 'List payouts',
      arguments: listArguments(fields, Object.keys(orders), filterArguments),
      answer: { status: 200, schema: Type.Array(payoutRecord) },
      check: checkFilters,
      handle: (call, args) => answerList(call, args, listing),
    }),
    endpoint({
      methods: ['POST', 'PUT'],
      path: '/payouts',
      permission: 'payouts.create',
      summary: 'Create a payout',
      arguments: createArguments,
      answer: { status: 201, schema: payoutRecord },
      check: checkPayout,
      handle: async (call, args) => {
        const record = await rules.createPayout(call, args)
        return {
          status: 201,
          headers: { Location: `${call.collectionUrl}/${record.id}` },
          body: render(record),
        }
      },
    }),
    endpoint({
      methods: ['GET'],
      path: '/payouts/{payout_id}',
      permission: 'payouts.read',
      summary: 'Get a payout',
      arguments: Type.Object(itemArguments),
      answer: { status: 200, schema: payoutRecord },
      failures: ['no_payout'],
      handle: async (call, { payout_id }) => ({
        status: 200,
        body: render(await rules.getPayout(call, payout_id)),
      }),
    }),
    endpoint({
      methods: ['POST', 'PATCH', 'PUT'],
      path: '/payouts/{payout_id}',
      permission: 'payouts.edit',
      summary: 'Edit a payout',
      arguments: editArguments,
      answer: { status: 200, schema: payoutRecord },
      failures: ['no_payout'],
      check: rules.problemsOfEdit,
      handle: async (call, args) => ({ status: 200, body: render(await rules.editPayout(call, args)) }),
    }),
    endpoint({
      methods: ['DELETE'],
      path: '/payouts/{payout_id}',
      permission: 'payouts.delete',
      summary: 'Delete a payout',
      arguments: Type.Object(itemArguments),
      answer: { status: 200, schema: deletion },
      failures: ['no_payout'],
      handle: async (call, { payout_id }) => ({
        status: 200,
        body: `{"deleted":true,"previous":${render(await rules.deletePayout(call, payout_id))}}`,
      }),
    }),
  ],
}

/** What only the administration area shows of payouts. */
export const payoutsInArea: Resource = {
  ...payouts,
  endpoints: [
    endpoint({
      methods: ['GET'],
      path: '/payouts/totals',
      permission: 'payouts.read',
      summary: 'Count and sum up payouts',
      arguments: Type.Object(narrowing(filterArguments)),
      answer: { status: 200, schema: payoutTotals },
      check: checkFilters,
      handle: async (call, args) => ({
        status: 200,
        body: JSON.stringify(await rules.totalPayouts(call, args)),
      }),
    }),
  ],
}
