import { type Static, type TObject, type TProperties, Type } from 'typebox'
import { CSV_TYPE } from '../../base/csv.ts'
import { type Call, createdAnswer, type Endpoint, endpoint, type Resource } from '../../http/endpoint.ts'
import { fileAnswer, fileOf } from '../../http/files.ts'
import { answerList, type ListArguments, type Listing, listAnswer, listArguments } from '../../http/list.ts'
import { answerCreated, body, listingOf, readOnly } from '../../records/crud.ts'
import { formats } from './formats/formats.ts'
import { type ItemRow, runItem } from './item.ts'
import * as rules from './rules.ts'
import { payoutRun, type Run } from './run.ts'
import {
  approveArguments,
  cancelArguments,
  editArguments,
  fileArguments,
  fileRecord,
  handOverArguments,
  MOST_CONTENT,
  prepareArguments,
  reconciliationRecord,
  resultArguments,
  resultRecord,
  settleArguments,
} from './schema.ts'

const path = '/payout-runs'
const item = `${path}/{payout_run_id}`
const [reads, prepares, edits] = ['payout_runs.read', 'payout_runs.create', 'payout_runs.edit'] as const

export const runListing = listingOf(payoutRun, rules.reading)
export const itemListing = listingOf(runItem, rules.itemReading)

const itemsOfRun: Listing<ItemRow, ListArguments & { payout_run_id: number }> = {
  ...itemListing,
  path: ({ payout_run_id }) => `/${payout_run_id}/items`,
  page: (call, args, page) => rules.itemReading.page(call, narrowedTo(args), page),
  count: (call, args) => rules.itemReading.count(call, narrowedTo(args)),
}

const narrowedTo = <A extends { payout_run_id: number }>(args: A) => ({
  ...args,
  payout_run_id: [args.payout_run_id],
})

async function answerRun(call: Call, run: Run) {
  return { status: 200, body: await body(call, payoutRun, run) } as const
}

/** An endpoint that takes a step of a run, and answers the run after it. */
const step = <P extends TProperties>(
  behind: string,
  summary: string,
  args: TObject<P>,
  act: (call: Call, args: Static<TObject<P>>) => Promise<Run>,
): Endpoint =>
  endpoint({
    methods: ['POST'],
    path: `${item}${behind}`,
    permission: edits,
    summary,
    arguments: args,
    answer: { status: 200, schema: payoutRun.record },
    failures: ['no_payout_run', 'run_conflict', 'second_person'],
    handle: async (call, args) => answerRun(call, await act(call, args)),
  })

const fileEndpoints = formats.flatMap(({ name, contentType }) => [
  endpoint({
    methods: ['GET'],
    path: `${item}/files/${name}`,
    permission: edits,
    summary: `Download the ${name} file of a payout run`,
    arguments: fileArguments,
    answer: fileAnswer(contentType),
    failures: ['no_payout_run', 'run_conflict'],
    handle: async (call, args) => {
      const file = await rules.file(call, name, args, call.getsBody)
      return fileOf(file.name, contentType, file.text)
    },
  }),
  step(`/files/${name}`, `Record that the ${name} file was handed over`, handOverArguments, (call, args) =>
    rules.handOver(call, name, args),
  ),
])

const steps: readonly Endpoint[] = [
  step('', 'Prepare a draft again, and change who is left out', editArguments, rules.edit),
  step('/approve', 'Approve a payout run', approveArguments, rules.approve),
  step('/cancel', 'Cancel a payout run', cancelArguments, rules.cancel),
  step('/close', 'Close a payout run', payoutRun.item, (call, { payout_run_id }) =>
    rules.close(call, payout_run_id),
  ),
]

export const payoutRunResource: Resource = {
  name: 'payout-runs',
  title: payoutRun.title,
  record: payoutRun.record,
  missing: 'no_payout_run',
  replayed: true,
  endpoints: [
    ...readOnly(payoutRun, rules.reading).endpoints,
    endpoint({
      methods: ['POST'],
      path,
      permission: prepares,
      summary: 'Prepare a payout run',
      arguments: prepareArguments,
      answer: createdAnswer(payoutRun.record),
      check: async (call, args) => payoutRun.problems(args, await call.settings.current()),
      handle: async (call, args) => answerCreated(call, payoutRun, await rules.prepare(call, args)),
    }),
    ...steps,
    endpoint({
      methods: ['GET'],
      path: `${item}/items`,
      permission: reads,
      summary: 'List the items of a payout run: who is paid, who is left out, and why',
      arguments: Type.Object({
        ...listArguments(itemListing.fields, Object.keys(itemListing.orders), runItem.filters).properties,
        ...payoutRun.item.properties,
      }),
      answer: listAnswer(runItem.record),
      failures: ['no_payout_run'],
      check: async (call, { payout_run_id: _id, ...args }) =>
        runItem.filterProblems(args, await call.settings.current()),
      handle: async (call, args) => {
        await rules.reading.get(call, args.payout_run_id)
        return answerList(call, args, itemsOfRun)
      },
    }),
    endpoint({
      methods: ['GET'],
      path: `${item}/files`,
      permission: reads,
      summary: 'List the files of a payout run',
      arguments: payoutRun.item,
      answer: { status: 200, schema: Type.Array(fileRecord) },
      failures: ['no_payout_run'],
      handle: async (call, { payout_run_id }) => ({
        status: 200,
        body: JSON.stringify(await rules.listFiles(call, payout_run_id)),
      }),
    }),
    ...fileEndpoints,
    endpoint({
      methods: ['POST'],
      path: `${item}/results`,
      permission: edits,
      summary: 'Import the results of a payout run',
      arguments: resultArguments,
      // A file of 100,000 payments, as text within JSON.
      bodyLimitBytes: 2 * MOST_CONTENT,
      answer: { status: 200, schema: resultRecord },
      failures: ['no_payout_run', 'run_conflict'],
      handle: async (call, args) => ({
        status: 200,
        body: JSON.stringify(await rules.recordResults(call, args)),
      }),
    }),
    endpoint({
      methods: ['GET'],
      path: `${item}/reconciliation`,
      permission: reads,
      summary: 'Compare the payments of a payout run with their outcomes',
      arguments: payoutRun.item,
      answer: { status: 200, schema: reconciliationRecord },
      failures: ['no_payout_run'],
      handle: async (call, { payout_run_id }) => ({
        status: 200,
        body: JSON.stringify(await rules.reconcile(call, payout_run_id)),
      }),
    }),
    endpoint({
      methods: ['GET'],
      path: `${item}/reconciliation/csv`,
      permission: reads,
      summary: 'Download this comparison as CSV',
      arguments: payoutRun.item,
      answer: fileAnswer(CSV_TYPE),
      failures: ['no_payout_run'],
      handle: async (call, { payout_run_id }) =>
        fileOf(
          `payout-run-${payout_run_id}-reconciliation.csv`,
          CSV_TYPE,
          await rules.reconciliationCsv(call, payout_run_id),
        ),
    }),
  ],
}

/** The items of all runs, such as those of one affiliate. */
export const runItemResource: Resource = {
  name: 'run-items',
  title: runItem.title,
  record: runItem.record,
  missing: 'no_run_item',
  replayed: true,
  endpoints: [
    ...readOnly(runItem, rules.itemReading).endpoints,
    endpoint({
      methods: ['POST'],
      path: '/run-items/{run_item_id}',
      permission: 'run_items.edit',
      summary: 'Record the outcome of one payment',
      arguments: settleArguments,
      answer: { status: 200, schema: runItem.record },
      failures: ['no_run_item', 'run_conflict'],
      handle: async (call, args) => ({
        status: 200,
        body: await body(call, runItem, await rules.settleItem(call, args)),
      }),
    }),
  ],
}
