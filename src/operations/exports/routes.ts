/** Whole lists as files, for spreadsheets (CSV) and for programs (NDJSON): written while they are read. */
import { type TProperties, Type } from 'typebox'
import { decimalText } from '../../base/money.ts'
import { choice } from '../../base/schemas.ts'
import type { Settings } from '../../base/settings.ts'
import { formatTime, now } from '../../base/time.ts'
import { type Answer, type Call, endpoint, type Permission, type Resource } from '../../http/endpoint.ts'
import * as affiliates from '../../programme/affiliates/routes.ts'
import { recordOf as affiliateOf } from '../../programme/affiliates/rules.ts'
import { filterArguments as affiliateFilters } from '../../programme/affiliates/schema.ts'
import { type AffiliateRow, findAffiliates } from '../../programme/affiliates/store.ts'
import * as payouts from '../../programme/payouts/routes.ts'
import { filterArguments as payoutFilters } from '../../programme/payouts/schema.ts'
import type { Payout } from '../../programme/payouts/store.ts'
import { eachPage, type ListArguments, type Listing, narrowing, ordering } from '../../records/list.ts'
import { CSV_BEGINNING, CSV_TYPE, csvLine } from './csv.ts'

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

async function withPayees({ database }: Call, rows: readonly Payout[]): Promise<PaidRow[]> {
  const ids = [...new Set(rows.map(row => row.affiliate_id))]
  const payees = await findAffiliates(database.replica, ids)
  const byId = new Map(payees.map(payee => [payee.id, payee]))
  return rows.map(row => ({ ...row, payee: byId.get(row.affiliate_id) }))
}

/** What every export is asked with. */
type Arguments = { format?: 'csv' | 'ndjson' } & Pick<ListArguments, 'orderby' | 'order' | 'filter'>

/** The CSV file of a list: its columns, and their rows out of those of the list. */
interface Sheet<Row, SheetRow> {
  readonly columns: Record<string, Column<SheetRow>>
  readonly rowsOf: (call: Call, rows: Row[]) => Promise<SheetRow[]>
}

const asTheyAre = async <Row>(_call: Call, rows: Row[]) => rows

/** @param always arguments of the list that every export has */
function exportEndpoint<Row, SheetRow, Args extends ListArguments>(
  name: 'affiliates' | 'payouts',
  listing: Listing<Row, Args>,
  sheet: Sheet<Row, SheetRow>,
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
      const { beginning, text } =
        format === 'csv' ? await csv(call, sheet) : await ndjson(call, asked, listing)
      const pages = eachPage(call, asked, listing)
      return download(name, format, written(beginning, text, pages, await pages.next()))
    },
  })
}

export const exports: Resource = {
  name: 'exports',
  title: 'Exports',
  record: Type.Object({}),
  missing: 'no_route',
  endpoints: [
    exportEndpoint(
      'affiliates',
      affiliates.listing,
      { columns: affiliateColumns, rowsOf: asTheyAre },
      affiliateFilters,
      {
        user: true,
        effective: true,
      },
    ),
    exportEndpoint('payouts', payouts.listing, { columns: payoutColumns, rowsOf: withPayees }, payoutFilters),
  ],
}

interface Writer<Row> {
  readonly beginning: string
  readonly text: (rows: Row[]) => Promise<string>
}

async function csv<Row, SheetRow>(
  call: Call,
  { columns, rowsOf }: Sheet<Row, SheetRow>,
): Promise<Writer<Row>> {
  const settings = await call.settings.current()
  const cells = Object.values(columns)
  return {
    beginning: CSV_BEGINNING + csvLine(Object.keys(columns)),
    text: async rows =>
      (await rowsOf(call, rows)).map(row => csvLine(cells.map(cell => cell(row, settings)))).join(''),
  }
}

async function ndjson<Row, Args>(call: Call, args: Args, listing: Listing<Row, Args>): Promise<Writer<Row>> {
  const recordOf = await listing.records(call, args)
  const line = (row: Row) => `${listing.render(recordOf(row) as never)}\n`
  return { beginning: '', text: async rows => rows.map(line).join('') }
}

/** @param first is read before the answer begins, so that what goes wrong there is still an error */
async function* written<Row>(
  beginning: string,
  text: (rows: Row[]) => Promise<string>,
  pages: AsyncGenerator<Row[], void>,
  first: IteratorResult<Row[], void>,
): AsyncGenerator<string> {
  yield beginning
  for (let page = first; !page.done; page = await pages.next()) yield await text(page.value)
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
