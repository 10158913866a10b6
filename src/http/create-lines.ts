/** Creates many records in one request, one per line. See docs/decisions/lines.md. */
import { setImmediate } from 'node:timers/promises'
import type { TObject, TProperties } from 'typebox'
import { attempted, Failure, type Problems } from '../base/errors.ts'
import type { Settings } from '../base/settings.ts'
import type { Context, RequestContext } from '../events/write.ts'
import { type Database, DatabaseUnavailable, type Tx } from '../storage/database.ts'
import { inSavepoint } from '../storage/savepoint.ts'
import { ArgumentReader, addFound, type Read, refuse } from './arguments.ts'
import type { Call, LineResult, Lines, Shared } from './endpoint.ts'
import { noParameters, parseJson } from './parameters.ts'
import { failureOf } from './problems.ts'

/** Records created before other requests get a turn of the event loop. */
const AT_ONCE = 50
const MOST_IGNORED = 20
/** Characters parsed before other requests get a turn of the event loop. */
const READ_AT_ONCE = 65_536

/** How to turn lines into records, and records into results. */
interface Creating<R> {
  readonly arguments: TObject
  /** JSON Schema of the result's members, by name. */
  readonly result: TProperties
  /** Validation beyond the schemas. Also runs for lines that failed their schema, so that every problem is reported. */
  problems(context: Context, args: object): Promise<Problems>
  // Methods rather than function properties, so that an implementation may narrow the type of its arguments.
  create(context: RequestContext, args: unknown, shared?: Shared): Promise<R>
  /**
   * Creates many in one transaction, where that is faster. A record that cannot be created yields its failure.
   * @throws on failures that cannot be attributed to one record: each record is then created separately
   */
  createMany?(context: RequestContext, all: readonly unknown[], shared?: Shared): Promise<(R | Failure)[]>
  /**
   * Locks what the records share with those of other transactions, in an order that is the same for all, before they are
   * created one by one: in the order of the lines, transactions would wait for one another in a circle.
   */
  lockAll?(context: RequestContext, tx: Tx, all: readonly unknown[]): Promise<void>
  /** Shared state of the records, one per request. */
  share?(): Shared
  /** Result of a line: its members as JSON without braces, and whether the record existed already. */
  tell(record: R, settings: Settings): { readonly members: string; readonly replayed?: boolean }
}

interface ReadLine {
  readonly args: unknown
  readonly ignored: readonly string[]
}

/** Takes a record by each line of a body of NDJSON, and answers each by a line of its own. */
export function createLines<R>(creating: Creating<R>): Lines {
  const reader = new ArgumentReader(creating.arguments)
  return {
    result: creating.result,
    share: creating.share,
    perform: async (call, texts, careful, shared) => {
      const readLines = await readAll(reader, texts)
      const lines = await Promise.all(
        readLines.map(line => {
          const judged = () => judge(line, args => creating.problems(call, args))
          return careful ? isolated(call.database, judged) : attempted(judged)
        }),
      )
      const read = lines.flatMap(line => (line instanceof Failure ? [] : [line]))
      const results =
        creating.createMany && !careful
          ? await createTogether(call, creating, read, shared)
          : await createEach(call, creating, read, { careful, shared })
      let next = 0
      return lines.map(line => (line instanceof Failure ? line : results[next++]!))
    },
  }
}

function resultOf(
  { members, replayed }: { members: string; replayed?: boolean },
  ignored: readonly string[],
): LineResult {
  const names = ignored.length === 0 ? '' : `"ignored":${JSON.stringify(ignored.slice(0, MOST_IGNORED))},`
  return { status: replayed ? 200 : 201, members: names + members }
}

async function createTogether<R>(
  call: Call,
  creating: Creating<R>,
  lines: readonly ReadLine[],
  shared: Shared | undefined,
): Promise<LineResult[]> {
  const created = await creating.createMany!(
    call,
    lines.map(({ args }) => args),
    shared,
  )
  const settings = await call.settings.current()
  const results: LineResult[] = []
  for (const [place, one] of created.entries()) {
    if (place % AT_ONCE === AT_ONCE - 1) await setImmediate()
    const { ignored } = lines[place]!
    results.push(one instanceof Failure ? one : resultOf(creating.tell(one, settings), ignored))
  }
  return results
}

async function createEach<R>(
  call: Call,
  creating: Creating<R>,
  lines: readonly ReadLine[],
  { careful, shared }: { careful: boolean; shared: Shared | undefined },
): Promise<LineResult[]> {
  // Joins the transaction of the call.
  return call.database.transaction(async tx => {
    if (careful) {
      await creating.lockAll?.(
        call,
        tx,
        lines.map(({ args }) => args),
      )
    }
    const settings = await call.settings.current()
    const results: LineResult[] = []
    for (const { args, ignored } of lines) {
      if (results.length % AT_ONCE === AT_ONCE - 1) await setImmediate()
      await shared?.lock(tx, args)
      // With its result: a record that cannot be serialised is not created either.
      const createOne = async () =>
        resultOf(creating.tell(await creating.create(call, args, shared), settings), ignored)
      const result: LineResult = careful
        ? await isolated(call.database, () => inSavepoint(tx, createOne))
        : await createOne()
      if (result instanceof Failure) shared?.takeBack()
      results.push(result)
    }
    return results
  })
}

/** Yields between lines: parsing a body full of names takes seconds. */
async function readAll(reader: ArgumentReader, texts: readonly string[]): Promise<(Read | Failure)[]> {
  const lines: (Read | Failure)[] = []
  let length = 0
  for (const text of texts) {
    lines.push(await attempted(() => reader.read(noParameters, parseJson(text), noParameters)))
    length += text.length
    if (length > READ_AT_ONCE) {
      await setImmediate()
      length = 0
    }
  }
  return lines
}

/** @throws Failure invalid_json, missing_argument, invalid_argument */
async function judge(
  sent: Read | Failure,
  problemsOf: (args: object) => Promise<Problems>,
): Promise<ReadLine> {
  if (sent instanceof Failure) throw sent
  const { args, problems, missing, ignored } = sent
  if (missing.length === 0 && Object.keys(problems).length > 0) await addFound(problems, problemsOf(args))
  refuse(missing, problems)
  return { args, ignored }
}

/**
 * The same for any error that is of this work alone; `internal` where it is a defect.
 * @throws errors that concern the whole transaction: it is given up, or run again
 */
async function isolated<T>({ engine }: Database, work: () => Promise<T>): Promise<T | Failure> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof DatabaseUnavailable || engine.isLostRace(error)) throw error
    return failureOf(error)
  }
}
