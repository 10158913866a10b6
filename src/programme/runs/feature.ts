import { feature } from '../../records/feature.ts'
import { checks } from './check.ts'
import { runFilesTable, runItem } from './item.ts'
import { itemListing, payoutRunResource, runItemResource, runListing } from './routes.ts'
import { payoutRun } from './run.ts'

export const payoutRuns = feature(payoutRun, {
  resource: payoutRunResource,
  listing: runListing,
  unlogged: ({ hash, reference }) => [
    // What it comes to is logged when all of it is prepared.
    ...(hash === '' ? ['payees', 'amount', 'excluded'] : []),
    // A migration has given one to runs from before there were references.
    ...(/^R\d+$/.test(String(reference)) ? ['reference'] : []),
  ],
})

export const runItems = feature(runItem, {
  tables: [runItem.table, runFilesTable],
  resource: runItemResource,
  listing: itemListing,
  checks,
})
