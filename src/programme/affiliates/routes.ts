import { Type } from 'typebox'
import type { Context, RequestContext } from '../../events/write.ts'
import { type Call, CREATE, createdAnswer, EDIT, endpoint, type Resource } from '../../http/endpoint.ts'
import { answerList, type ListArguments, type Listing, listAnswer, listArguments } from '../../http/list.ts'
import { bulkEndpoints } from '../../records/bulk.ts'
import {
  answerDeleted,
  body,
  createAndAnswer,
  deletionOf,
  linesOfKind,
  totalsOf,
} from '../../records/crud.ts'
import { deletedButOwed, ledgerEndpoints, statement } from '../ledger/routes.ts'
import { affiliate } from './affiliate.ts'
import * as rules from './rules.ts'
import {
  affiliateNotes,
  affiliateTotals,
  createArguments,
  type EditArguments,
  editArguments,
  extrasArguments,
  recordWithExtras,
} from './schema.ts'

const fields = Object.keys(affiliate.record.properties)

/** Turns rows into records with the requested extras. */
async function writer(call: Call, extras: rules.Extras) {
  const settings = await call.settings.current()
  const show = (row: rules.AffiliateRow) => ({
    ...affiliate.show(row, settings),
    ...rules.extrasOf(row, settings, extras),
  })
  const write = rules.needsMore(extras)
    ? (row: rules.AffiliateRow) => JSON.stringify(show(row))
    : (row: rules.AffiliateRow) => affiliate.write(row, settings)
  return { show, write }
}

export const listing: Listing<rules.AffiliateRow, ListArguments & rules.Extras> = {
  orders: rules.orders,
  fields,
  extras: Object.keys(extrasArguments),
  indexed: affiliate.indexed,
  page: rules.page,
  count: rules.count,
  identifier: row => row.id,
  writer,
}

const become =
  (status: NonNullable<EditArguments['status']>) => (context: RequestContext, affiliate_id: number) =>
    rules.edit(context, { affiliate_id, status })

const problemsOfCreate = async ({ database, settings }: Context, args: object) =>
  rules.problemsOfCreate(database.reader, await settings.current(), args)

export const affiliates: Resource = {
  name: 'affiliates',
  title: 'Affiliates',
  record: recordWithExtras,
  missing: 'no_affiliate',
  derived: affiliate.derived,
  replayed: true,
  endpoints: [
    endpoint({
      methods: ['GET'],
      path: '/affiliates',
      permission: 'affiliates.read',
      summary: 'List affiliates',
      quick: true,
      arguments: listArguments(fields, Object.keys(rules.orders), {
        ...extrasArguments,
        ...affiliate.filters,
      }),
      answer: listAnswer(recordWithExtras),
      handle: (call, args) => answerList(call, args, listing),
    }),
    endpoint({
      methods: CREATE,
      path: '/affiliates',
      permission: 'affiliates.create',
      summary: 'Create an affiliate',
      arguments: createArguments,
      answer: createdAnswer(affiliate.record),
      failures: ['missing_user', 'email_taken', 'login_taken', 'already_affiliate'],
      lines: linesOfKind(affiliate, createArguments, {
        problems: problemsOfCreate,
        create: rules.create,
        createMany: rules.createMany,
      }),
      check: problemsOfCreate,
      handle: (call, args) => createAndAnswer(call, affiliate, args, rules),
    }),
    endpoint({
      methods: ['GET'],
      path: '/affiliates/{affiliate_id}',
      permission: 'affiliates.read',
      summary: 'Get an affiliate',
      quick: true,
      arguments: Type.Object({ ...affiliate.item.properties, ...extrasArguments }),
      answer: { status: 200, schema: recordWithExtras },
      failures: ['no_affiliate'],
      handle: async (call, { affiliate_id, ...extras }) => {
        const { write } = await writer(call, extras)
        return { status: 200, body: write(await rules.get(call, affiliate_id, extras)) }
      },
    }),
    endpoint({
      methods: EDIT,
      path: '/affiliates/{affiliate_id}',
      permission: 'affiliates.edit',
      summary: 'Edit an affiliate',
      arguments: editArguments,
      answer: { status: 200, schema: affiliate.record },
      failures: ['no_affiliate', 'email_taken'],
      check: async (call, args) =>
        rules.problemsOfEdit(call.database.reader, await call.settings.current(), args),
      handle: async (call, args) => ({
        status: 200,
        body: await body(call, affiliate, await rules.edit(call, args)),
      }),
    }),
    endpoint({
      methods: ['DELETE'],
      path: '/affiliates/{affiliate_id}',
      permission: 'affiliates.delete',
      summary: 'Delete an affiliate',
      arguments: affiliate.item,
      answer: { status: 200, schema: deletionOf(affiliate.record) },
      failures: ['no_affiliate'],
      handle: async (call, { affiliate_id }) =>
        answerDeleted(call, affiliate, await rules.remove(call, affiliate_id)),
    }),
    ...bulkEndpoints({
      kind: rules.bulkKind,
      actions: { approve: become('active'), reject: become('rejected'), deactivate: become('inactive') },
      remove: rules.remove,
    }),
    ...ledgerEndpoints,
  ],
}

/** Endpoints of affiliates for the administration area only. */
export const affiliatesInArea: Resource = {
  ...affiliates,
  endpoints: [
    endpoint({
      methods: ['GET'],
      path: '/affiliates/{affiliate_id}/notes',
      permission: 'affiliates.read',
      summary: 'Get the notes on an affiliate',
      arguments: affiliate.item,
      answer: { status: 200, schema: affiliateNotes },
      failures: ['no_affiliate'],
      handle: async (call, { affiliate_id }) => ({
        status: 200,
        body: JSON.stringify({ notes: await rules.getNotes(call, affiliate_id) }),
      }),
    }),
    deletedButOwed,
    statement,
    totalsOf(affiliate, 'Count affiliates by status', affiliateTotals, rules.totalAffiliates),
  ],
}
