import type { TObject } from 'typebox'
import { Type } from 'typebox'
import { CSV_BEGINNING, CSV_TYPE, csvLine } from '../../base/csv.ts'
import { decimalText, exactNumber } from '../../base/money.ts'
import type { RequestContext } from '../../events/write.ts'
import { type Answer, endpoint, type Resource } from '../../http/endpoint.ts'
import { fileOf } from '../../http/files.ts'
import { problemsOfDays } from './periods.ts'
import type { ReportArguments } from './report.ts'
import * as rules from './rules.ts'
import {
  affiliateArgument,
  type Report,
  type ReportName,
  reportArguments,
  reportRecord,
  reportRows,
} from './schema.ts'

const reportQuery = Type.Object(reportArguments)
const affiliateQuery = Type.Object({ ...reportArguments, ...affiliateArgument })

function reportEndpoint(
  name: ReportName,
  summary: string,
  make: (context: RequestContext, args: ReportArguments) => Promise<Report>,
  query: TObject<typeof reportArguments> = reportQuery,
) {
  return endpoint({
    methods: ['GET'],
    path: `/reports/${name}`,
    permission: 'reports.read',
    summary,
    arguments: query,
    answer: {
      status: 200,
      schema: Type.Object({ ...reportRecord.properties, rows: Type.Array(reportRows[name]) }),
    },
    check: async (_call, args) => problemsOfDays(args),
    handle: async (call, { format, ...args }) => {
      const report = await make(call, args)
      return format === 'csv' ? asCsv(name, report) : { status: 200, body: asJson(report) }
    },
  })
}

export const reports: Resource = {
  name: 'reports',
  title: 'Reports',
  record: reportRecord,
  missing: 'no_route',
  endpoints: [
    reportEndpoint(
      'payouts-by-month',
      'Report payouts that were paid and that failed, by month',
      rules.payoutsByMonth,
      affiliateQuery,
    ),
    reportEndpoint('affiliates-by-month', 'Report registered affiliates, by month', rules.affiliatesByMonth),
    reportEndpoint('top-affiliates', 'Report the ten affiliates who were paid most', rules.topAffiliates),
    reportEndpoint('payouts-by-method', 'Report what was paid, by method', rules.payoutsByMethod),
    reportEndpoint(
      'earnings-by-month',
      'Report what was earned, rejected and paid by month, and what was owed at its end',
      rules.earningsByMonth,
      affiliateQuery,
    ),
    reportEndpoint(
      'conversion-by-month',
      'Report visits, and those that led to a referral, by month',
      rules.conversionByMonth,
      affiliateQuery,
    ),
    reportEndpoint('best-affiliates', 'Report the ten affiliates who earned most', rules.bestAffiliates),
    reportEndpoint('best-campaigns', 'Report the ten campaigns that earned most', rules.bestCampaigns),
  ],
}

function asJson({ decimals, ...report }: Report): string {
  return JSON.stringify(report, (_name, value) =>
    typeof value === 'bigint' ? exactNumber(value, decimals) : value,
  )
}

function asCsv(name: ReportName, { decimals, from, to, rows }: Report): Answer {
  const columns = Object.keys(reportRows[name].properties)
  const lines = rows.map(row =>
    csvLine(
      columns.map(column => {
        const cell = row[column]!
        return typeof cell === 'bigint' ? decimalText(cell, decimals) : cell
      }),
    ),
  )
  // Its rows may be days.
  const file = `${name.replace('-by-month', '')}-${from}-${to}.csv`
  return fileOf(file, CSV_TYPE, [CSV_BEGINNING, csvLine(columns), ...lines].join(''))
}
