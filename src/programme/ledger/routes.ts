import { Type } from 'typebox'
import { CSV_TYPE } from '../../base/csv.ts'
import { line } from '../../base/schemas.ts'
import { type Endpoint, endpoint } from '../../http/endpoint.ts'
import { fileAnswer, fileOf } from '../../http/files.ts'
import { answerList, type ListArguments, type Listing, listAnswer, listArguments } from '../../http/list.ts'
import { listDeletedButOwed } from './deleted.ts'
import * as rules from './rules.ts'
import {
  balancesArguments,
  balancesRecord,
  deletedButOwedRecord,
  type LedgerArguments,
  ledgerFilters,
  ledgerItem,
  transferRecord,
} from './schema.ts'
import { csvOf, statementOf } from './statements.ts'

const fields = Object.keys(transferRecord.properties)

const listing: Listing<rules.LedgerRow, ListArguments & LedgerArguments> = {
  orders: rules.orders,
  fields,
  path: ({ affiliate_id }) => `/${affiliate_id}/ledger`,
  page: rules.listLedger,
  count: rules.countLedger,
  identifier: row => row.id,
  writer: async call => {
    const settings = await call.settings.current()
    const show = (row: rules.LedgerRow) => rules.recordOf(row, settings)
    return { show, write: row => JSON.stringify(show(row)) }
  },
}

const list = listArguments(fields, Object.keys(rules.orders), ledgerFilters)

/** For affiliates that exist, and for deleted ones. */
export const ledgerEndpoints: readonly Endpoint[] = [
  endpoint({
    methods: ['GET'],
    path: '/affiliates/{affiliate_id}/balances',
    permission: 'affiliates.read',
    summary: "Get an affiliate's balances, now or at another time",
    arguments: balancesArguments,
    answer: { status: 200, schema: balancesRecord },
    failures: ['no_affiliate'],
    handle: async (call, args) => ({
      status: 200,
      body: JSON.stringify(await rules.getBalances(call, args)),
    }),
  }),
  endpoint({
    methods: ['GET'],
    path: '/affiliates/{affiliate_id}/ledger',
    permission: 'affiliates.read',
    summary: "List an affiliate's transfers",
    arguments: Type.Object({ ...ledgerItem.properties, ...list.properties }),
    answer: listAnswer(transferRecord),
    failures: ['no_affiliate'],
    handle: (call, args) => answerList(call, args, listing),
  }),
]

const statementArguments = Type.Object({
  ...ledgerItem.properties,
  from: Type.Optional(line(19, 'First day or second, UTC; that of the first transfer when omitted.')),
  to: Type.Optional(line(19, 'Last day or second, UTC; now when omitted.')),
})

/** For people: what an affiliate was owed, and each change of it, as a file. */
export const statement: Endpoint = endpoint({
  methods: ['GET'],
  path: '/affiliates/{affiliate_id}/statement',
  permission: 'affiliates.read',
  summary: "Download an affiliate's statement",
  arguments: statementArguments,
  answer: fileAnswer(CSV_TYPE),
  failures: ['no_affiliate'],
  handle: async (call, { affiliate_id, ...days }) =>
    fileOf(
      `affiliate-${affiliate_id}-statement.csv`,
      CSV_TYPE,
      csvOf(await statementOf(call, affiliate_id, days), await call.settings.current()),
    ),
})

/** For people: the list of affiliates no longer has these. */
export const deletedButOwed: Endpoint = endpoint({
  methods: ['GET'],
  path: '/affiliates/deleted-but-owed',
  permission: 'affiliates.read',
  summary: 'List deleted affiliates who are still owed something',
  arguments: Type.Object({}),
  answer: { status: 200, schema: Type.Array(deletedButOwedRecord) },
  handle: async call => ({ status: 200, body: JSON.stringify(await listDeletedButOwed(call)) }),
})
