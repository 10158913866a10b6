/** Whole lists as files, for spreadsheets (CSV) and for programs (NDJSON): written while they are read. */
import { type TProperties, Type } from 'typebox'
import * as affiliates from '../../affiliates/routes.ts'
import { recordOf as affiliateOf } from '../../affiliates/rules.ts'
import { filterArguments as affiliateFilters } from '../../affiliates/schema.ts'
import { type AffiliateRow, findAffiliates } from '../../affiliates/store.ts'
import { choice, decimalText, formatTime, now } from '../../fields.ts'
import { type Answer, type Call, endpoint, type Permission, type Resource } from '../../http/endpoint.ts'
import { eachPage, type ListArguments, type Listing, narrowing, ordering } from '../../http/list.ts'
import * as payouts from '../../payouts/routes.ts'
import { filterArguments as payoutFilters } from '../../payouts/schema.ts'
import type { Payout } from '../../payouts/store.ts'
import type { Settings } from '../../settings/schema.ts'
import { CSV_BEGINNING, CSV_TYPE, csvLine } from '../csv.ts'

type Column<Row> = (row: Row, settings: Settings) => string | number

/** The columns of the CSV file. Amounts have all their decimals, so that they line up. */
const affiliateColumns: Record<string, Column<AffiliateRow>> = {
  affiliate_id: row => row.id,
  user_id: row => row.user_id,
  login: row => row.account_login!,
  account_email: row => row.account_email!,
  display_name: row => row.account_display_name!,
  status: row => row.status,
  rate: (row, settings) => affiliateOf(row, settings).rate,
  rate_type: row => row.rate_type ?? '',
  effective_rate: (row, settings) => affiliateOf(row, settings, { effective: true }).effective!.rate,
  effective_rate_type: (row, settings) => row.rate_type ?? settings.defaultRateType,
  payment_email: row => row.payment_email,
  earnings: (row, { decimals }) => decimalText(row.earnings, decimals),
  unpaid_earnings: (row, { decimals }) => decimalText(row.unpaid_earnings, decimals),
  currency: (_row, { currency }) => currency,
  referrals: row => row.referrals,
  visits: row => row.visits,
  date_registered: row => formatTime(row.registered_at),
}

/** A payout, and who it went to, unless the affiliate was deleted. */
type PaidRow = Payout & { payee?: AffiliateRow | undefined }

const payoutColumns: Record<string, Column<PaidRow>> = {
  payout_id: row => row.id,
  affiliate_id: row => row.affiliate_id,
  amount: (row, { decimals }) => decimalText(row.amount, decimals),
  currency: (_row, { currency }) => currency,
  status: row => row.status,
  payout_method: row => row.payout_method,
  referrals: row => row.referrals,
  date: row => formatTime(row.created_at),
  owner: row => row.owner,
  affiliate_name: ({ payee }) => payee?.account_display_name || payee?.account_login || '',
  payment_email: ({ payee }) => payee?.payment_email || payee?.account_email || '',
}

const paidPayouts: Listing<PaidRow, Parameters<typeof payouts.listing.page>[1]> = {
  ...payouts.listing,
  page: async (call, args, page) => {
    const rows = await payouts.listing.page(call, args, page)
    const ids = [...new Set(rows.map(row => row.affiliate_id))]
    const payees = ids.length > 0 ? await findAffiliates(call.database.replica, ids) : []
    const byId = new Map(payees.map(payee => [payee.id, payee]))
    return rows.map(row => ({ ...row, payee: byId.get(row.affiliate_id) }))
  },
}

/** What every export is asked with. */
type Arguments = { format?: 'csv' | 'ndjson' } & Pick<ListArguments, 'orderby' | 'order' | 'filter'>

/** @param always arguments of the list that every export has */
function exportEndpoint<Row, Args extends ListArguments>(
  name: 'affiliates' | 'payouts',
  listing: Listing<Row, Args>,
  columns: Record<string, Column<Row>>,
  filters: TProperties,
  always: Partial<Args> = {},
) {
  return endpoint({
    methods: ['GET'],
    path: `/exports/${name}`,
    permission: `${name}.read` satisfies Permission,
    summary: `Export ${name} as a file`,
    arguments: Type.Object({
      format: Type.Optional({ ...choice(['csv', 'ndjson'], 'The kind of file.'), default: 'csv' }),
      ...ordering(Object.keys(listing.orders)),
      ...narrowing(filters),
    }),
    answer: { status: 200, schema: { type: 'string' } },
    handle: async (call, args) => {
      const { format = 'csv', ...list } = args as Arguments
      const asked = { ...list, ...always } as Args
      const { beginning, line } =
        format === 'csv' ? await csv(call, columns) : await ndjson(call, asked, listing)
      const pages = eachPage(call, asked, listing)
      return download(name, format, written(beginning, line, pages, await pages.next()))
    },
  })
}

export const exports: Resource = {
  name: 'exports',
  title: 'Exports',
  record: Type.Object({}),
  missing: 'no_route',
  endpoints: [
    exportEndpoint('affiliates', affiliates.listing, affiliateColumns, affiliateFilters, {
      user: true,
      effective: true,
    }),
    exportEndpoint('payouts', paidPayouts, payoutColumns, payoutFilters),
  ],
}

interface Writer<Row> {
  readonly beginning: string
  readonly line: (row: Row) => string
}

async function csv<Row>(call: Call, columns: Record<string, Column<Row>>): Promise<Writer<Row>> {
  const settings = await call.settings.current()
  const cells = Object.values(columns)
  return {
    beginning: CSV_BEGINNING + csvLine(Object.keys(columns)),
    line: row => csvLine(cells.map(cell => cell(row, settings))),
  }
}

async function ndjson<Row, Args>(call: Call, args: Args, listing: Listing<Row, Args>): Promise<Writer<Row>> {
  const recordOf = await listing.records(call, args)
  return { beginning: '', line: row => `${listing.render(recordOf(row) as never)}\n` }
}

/** @param first is read before the answer begins, so that what goes wrong there is still an error */
async function* written<Row>(
  beginning: string,
  line: (row: Row) => string,
  pages: AsyncGenerator<Row[], void>,
  first: IteratorResult<Row[], void>,
): AsyncGenerator<string> {
  yield beginning
  for (let page = first; !page.done; page = await pages.next()) yield page.value.map(line).join('')
}

function download(name: string, format: 'csv' | 'ndjson', body: AsyncIterable<string>): Answer {
  const day = formatTime(now()).slice(0, 10)
  return {
    status: 200,
    headers: {
      'Content-Type': format === 'csv' ? CSV_TYPE : 'application/x-ndjson',
      'Content-Disposition': `attachment; filename="${name}-${day}.${format}"`,
    },
    body,
  }
}
