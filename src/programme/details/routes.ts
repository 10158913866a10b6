import { createdAnswer, endpoint, type Resource } from '../../http/endpoint.ts'
import { answerList, listAnswer, listArguments } from '../../http/list.ts'
import { answerCreated, answerDeleted, body, deletionOf, listingOf } from '../../records/crud.ts'
import { createArguments, paymentDetail } from './details.ts'
import * as rules from './rules.ts'

// Text is looked for in the names of affiliates.
export const listing = { ...listingOf(paymentDetail, rules.reading), searchNeeds: 'affiliates.read' }
const path = '/payment-details'
const item = `${path}/{payment_detail_id}`

export const paymentDetails: Resource = {
  name: 'payment-details',
  title: paymentDetail.title,
  record: paymentDetail.record,
  missing: 'no_payment_detail',
  endpoints: [
    endpoint({
      methods: ['GET'],
      path,
      permission: 'payment_details.read',
      summary: 'List payment details, current and earlier ones',
      arguments: listArguments(listing.fields, Object.keys(listing.orders), paymentDetail.filters),
      answer: listAnswer(paymentDetail.record),
      check: async (call, args) => paymentDetail.filterProblems(args, await call.settings.current()),
      handle: (call, args) => answerList(call, args, listing),
    }),
    endpoint({
      methods: ['POST'],
      path,
      permission: 'payment_details.create',
      summary: 'Enter payment details',
      arguments: createArguments,
      answer: createdAnswer(paymentDetail.record),
      failures: ['secret_key'],
      check: (call, args) => rules.problems(call, args),
      handle: async (call, args) => answerCreated(call, paymentDetail, await rules.create(call, args)),
    }),
    endpoint({
      methods: ['GET'],
      path: item,
      permission: 'payment_details.read',
      summary: 'Get payment details',
      arguments: paymentDetail.item,
      answer: { status: 200, schema: paymentDetail.record },
      failures: ['no_payment_detail'],
      handle: async (call, { payment_detail_id }) => ({
        status: 200,
        body: await body(call, paymentDetail, await rules.reading.get(call, payment_detail_id)),
      }),
    }),
    endpoint({
      methods: ['DELETE'],
      path: item,
      permission: 'payment_details.delete',
      summary: 'Remove payment details',
      arguments: paymentDetail.item,
      answer: { status: 200, schema: deletionOf(paymentDetail.record) },
      failures: ['no_payment_detail'],
      handle: async (call, { payment_detail_id }) =>
        answerDeleted(call, paymentDetail, await rules.remove(call, payment_detail_id)),
    }),
  ],
}
