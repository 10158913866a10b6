/** Whole lists as files, for spreadsheets (CSV) and for programs (NDJSON): written while they are read. */
import { Type } from 'typebox'
import { CSV_BEGINNING, CSV_TYPE, csvLine } from '../../base/csv.ts'
import { choice, withDefault } from '../../base/schemas.ts'
import { formatDay, now } from '../../base/time.ts'
import { type Answer, type Call, type Endpoint, endpoint, type Resource } from '../../http/endpoint.ts'
import { fileAnswer, fileOf } from '../../http/files.ts'
import { eachPage, type Listing, narrowing, ordering } from '../../http/list.ts'
import { LINES_TYPE } from '../../http/parameters.ts'
import type { Feature, Sheet } from '../../records/feature.ts'

/** A file of each kind of record. */
export const exportsOf = (features: readonly Feature[]): Resource => ({
  name: 'exports',
  title: 'Exports',
  record: Type.Object({}),
  missing: 'no_route',
  endpoints: features.map(exportEndpoint),
})

function exportEndpoint({ kind, resource, listing, sheet }: Feature): Endpoint {
  const { name } = resource
  return endpoint({
    methods: ['GET'],
    path: `/exports/${name}`,
    permission: resource.endpoints.find(({ path }) => path === `/${name}`)!.permission,
    summary: `Export ${name} as a file`,
    arguments: Type.Object({
      format: Type.Optional(withDefault(choice(['csv', 'ndjson'], 'Format of the file.'), 'csv')),
      ...ordering(Object.keys(listing.orders)),
      ...narrowing(kind.filters),
    }),
    answer: fileAnswer(CSV_TYPE, LINES_TYPE),
    check: async (call, args) => kind.filterProblems(args, await call.settings.current()),
    handle: async (call, args) => {
      call.beginStream()
      const { format = 'csv', ...list } = args
      const listArguments = { ...list, ...sheet.always }
      const { beginning, text } =
        format === 'csv' ? await csv(call, sheet) : await ndjson(call, listArguments, listing)
      const pages = eachPage(call, listArguments, listing)
      return download(name, format, linesOf(beginning, text, pages, await pages.next()))
    },
  })
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
  const { write } = await listing.writer(call, args)
  return { beginning: '', text: async rows => rows.map(row => `${write(row)}\n`).join('') }
}

/** @param first read before the answer begins, so that an error there still has its status */
async function* linesOf<Row>(
  beginning: string,
  text: (rows: Row[]) => Promise<string>,
  pages: AsyncGenerator<Row[], void>,
  first: IteratorResult<Row[], void>,
): AsyncGenerator<string> {
  yield beginning
  for (let page = first; !page.done; page = await pages.next()) yield await text(page.value)
}

function download(name: string, format: 'csv' | 'ndjson', body: AsyncIterable<string>): Answer {
  const day = formatDay(now())
  return fileOf(`${name}-${day}.${format}`, format === 'csv' ? CSV_TYPE : LINES_TYPE, body)
}
