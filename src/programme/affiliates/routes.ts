import { Type } from 'typebox'
import { type Call, endpoint, type Resource } from '../../http/endpoint.ts'
import { answerList, type ListArguments, type Listing, listArguments, narrowing } from '../../records/list.ts'
import { renderer } from '../../records/render.ts'
import * as rules from './rules.ts'
import {
  type AffiliateRecord,
  affiliateExtras,
  affiliateNotes,
  affiliateRecord,
  affiliateTotals,
  createArguments,
  editArguments,
  extrasArguments,
  type FilterArguments,
  filterArguments,
  itemArguments,
} from './schema.ts'
import { type AffiliateRow, orders } from './store.ts'

const shown = Type.Object({ ...affiliateRecord.properties, ...affiliateExtras.properties })
const deletion = Type.Object({ deleted: Type.Boolean(), previous: affiliateRecord })
const render = renderer<AffiliateRecord>(shown)
const fields = Object.keys(affiliateRecord.properties)

export const listing: Listing<AffiliateRow, ListArguments & FilterArguments & rules.Extras> = {
  orders,
  fields,
  page: (call, args, page) => rules.listAffiliates(call, args, page, args),
  count: rules.countAffiliates,
  identifier: row => row.id,
  records: async (call, args) => {
    const settings = await call.settings.current()
    return row => rules.recordOf(row, settings, args)
  },
  render,
}

const created = (call: Call, record: AffiliateRecord) => ({
  status: 201 as const,
  headers: { Location: `${call.collectionUrl}/${record.id}` },
  body: render(record),
})

export const affiliates: Resource = {
  name: 'affiliates',
  title: 'Affiliates',
  record: shown,
  missing: 'no_affiliate',
  replayed: true,
  endpoints: [
    endpoint({
      methods: ['GET'],
      path: '/affiliates',
      permission: 'affiliates.read',
      summary: 'List affiliates',
      arguments: listArguments(fields, Object.keys(orders), { ...extrasArguments, ...filterArguments }),
      answer: { status: 200, schema: Type.Array(shown) },
      handle: (call, args) => answerList(call, args, listing),
    }),
    endpoint({
      methods: ['POST', 'PUT'],
      path: '/affiliates',
      permission: 'affiliates.create',
      summary: 'Create an affiliate',
      arguments: createArguments,
      answer: { status: 201, schema: affiliateRecord },
      failures: ['missing_user', 'affiliate_exists', 'email_taken', 'login_taken', 'already_affiliate'],
      check: async (call, args) =>
        rules.problemsOfCreate(call.database.reader, await call.settings.current(), args),
      handle: async (call, args) => created(call, await rules.createAffiliate(call, args)),
    }),
    endpoint({
      methods: ['GET'],
      path: '/affiliates/{affiliate_id}',
      permission: 'affiliates.read',
      summary: 'Get an affiliate',
      arguments: Type.Object({ ...itemArguments, ...extrasArguments }),
      answer: { status: 200, schema: shown },
      failures: ['no_affiliate'],
      handle: async (call, { affiliate_id, ...extras }) => ({
        status: 200,
        body: render(await rules.getAffiliate(call, affiliate_id, extras)),
      }),
    }),
    endpoint({
      methods: ['POST', 'PATCH', 'PUT'],
      path: '/affiliates/{affiliate_id}',
      permission: 'affiliates.edit',
      summary: 'Edit an affiliate',
      arguments: editArguments,
      answer: { status: 200, schema: affiliateRecord },
      failures: ['no_affiliate', 'email_taken'],
      check: async (call, args) => rules.problemsOfRate(await call.settings.current(), args),
      handle: async (call, args) => ({ status: 200, body: render(await rules.editAffiliate(call, args)) }),
    }),
    endpoint({
      methods: ['DELETE'],
      path: '/affiliates/{affiliate_id}',
      permission: 'affiliates.delete',
      summary: 'Delete an affiliate',
      arguments: Type.Object(itemArguments),
      answer: { status: 200, schema: deletion },
      failures: ['no_affiliate'],
      handle: async (call, { affiliate_id }) => ({
        status: 200,
        body: `{"deleted":true,"previous":${render(await rules.deleteAffiliate(call, affiliate_id))}}`,
      }),
    }),
  ],
}

/** What only the administration area shows of affiliates. */
export const affiliatesInArea: Resource = {
  ...affiliates,
  endpoints: [
    endpoint({
      methods: ['GET'],
      path: '/affiliates/{affiliate_id}/notes',
      permission: 'affiliates.read',
      summary: 'Get the notes on an affiliate',
      arguments: Type.Object(itemArguments),
      answer: { status: 200, schema: affiliateNotes },
      failures: ['no_affiliate'],
      handle: async (call, { affiliate_id }) => ({
        status: 200,
        body: JSON.stringify({ notes: await rules.getNotes(call, affiliate_id) }),
      }),
    }),
    endpoint({
      methods: ['GET'],
      path: '/affiliates/totals',
      permission: 'affiliates.read',
      summary: 'Count affiliates by status',
      arguments: Type.Object(narrowing(filterArguments)),
      answer: { status: 200, schema: affiliateTotals },
      handle: async (call, args) => ({
        status: 200,
        body: JSON.stringify(await rules.totalAffiliates(call, args)),
      }),
    }),
  ],
}
