import { feature } from '../../records/feature.ts'
import { checks } from './check.ts'
import { runFilesTable, runItem } from './item.ts'
import { itemListing, payoutRunResource, runItemResource, runListing } from './routes.ts'
import { payoutRun } from './run.ts'

export const payoutRuns = feature(payoutRun, {
  resource: payoutRunResource,
  listing: runListing,
  // What it comes to is logged when all of it is prepared.
  unlogged: ({ hash }) => (hash === '' ? ['payees', 'amount', 'excluded'] : []),
})

export const runItems = feature(runItem, {
  tables: [runItem.table, runFilesTable],
  resource: runItemResource,
  listing: itemListing,
  checks,
})
