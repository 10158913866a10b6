/** Many records of a kind by one request, a line each. See docs/decisions/lines.md. */
import { setImmediate } from 'node:timers/promises'
import type { TObject, TProperties } from 'typebox'
import { Failure, type Problems } from '../base/errors.ts'
import type { Settings } from '../base/settings.ts'
import type { Context, RequestContext } from '../events/write.ts'
import { ArgumentReader, type Read, refuse } from '../http/arguments.ts'
import type { Call, LineResult, Lines } from '../http/endpoint.ts'
import { noParameters, parseJson } from '../http/parameters.ts'
import { inSavepoint } from '../storage/savepoint.ts'

/** So many are made by themselves before others are answered. */
const AT_ONCE = 50
const MOST_IGNORED = 20
/** So many characters are read before others are answered. */
const READ_AT_ONCE = 65_536

/** What each line makes, and how it is told. */
interface Creating<A, R> {
  readonly arguments: TObject
  /** As JSON Schema, by its name in the result. */
  readonly result: TProperties
  /** What is wrong beyond what the schemas say: asked of lines of which something else is wrong, so that all of it is named. */
  problems(context: Context, args: object): Promise<Problems>
  create(context: RequestContext, args: A): Promise<R>
  /**
   * The same for many in one transaction, where that is faster; those that can't be made are answered by a failure.
   * @throws whatever keeps one of them from being made that can't be told beforehand: each is then made by itself
   */
  createMany?(context: RequestContext, all: readonly A[]): Promise<(R | Failure)[]>
  /** Members of a JSON object, without its braces, and whether it was there already. */
  tell(made: R, settings: Settings): { readonly members: string; readonly replayed?: boolean }
}

interface ReadLine<A> {
  readonly args: A
  readonly ignored: readonly string[]
}

export function linesOf<A, R>(creating: Creating<A, R>): Lines {
  const reader = new ArgumentReader(creating.arguments)
  return {
    result: creating.result,
    perform: async (call, texts, careful) => {
      const sent = await readAll(reader, texts)
      const lines = await Promise.all(
        sent.map(one => attempted(() => judge<A>(one, args => creating.problems(call, args)))),
      )
      const all = lines.flatMap(line => (line instanceof Failure ? [] : [line.args]))
      const made =
        creating.createMany && !careful
          ? await creating.createMany(call, all)
          : await createEach(call, creating, all, careful)
      const settings = await call.settings.current()
      let next = 0
      return lines.map((line): LineResult => {
        if (line instanceof Failure) return line
        const one = made[next++]!
        return one instanceof Failure ? one : told(creating.tell(one, settings), line.ignored)
      })
    },
  }
}

function told(
  { members, replayed }: { members: string; replayed?: boolean },
  ignored: readonly string[],
): LineResult {
  const names = ignored.length === 0 ? '' : `"ignored":${JSON.stringify(ignored.slice(0, MOST_IGNORED))},`
  return { status: replayed ? 200 : 201, members: names + members }
}

async function createEach<A, R>(
  call: Call,
  { create }: Creating<A, R>,
  all: readonly A[],
  careful: boolean,
): Promise<(R | Failure)[]> {
  // The call is part of a transaction, which this one joins.
  return call.database.transaction(async tx => {
    const made: (R | Failure)[] = []
    for (const args of all) {
      if (made.length % AT_ONCE === AT_ONCE - 1) await setImmediate()
      const one = () => create(call, args)
      made.push(careful ? await attempted(() => inSavepoint(tx, one)) : await one())
    }
    return made
  })
}

/** Others are answered in between: a body of nothing but names takes seconds. */
async function readAll(reader: ArgumentReader, texts: readonly string[]): Promise<(Read | Failure)[]> {
  const all: (Read | Failure)[] = []
  let length = 0
  for (const text of texts) {
    all.push(await attempted(() => reader.read(noParameters, parseJson(text), noParameters)))
    length += text.length
    if (length > READ_AT_ONCE) {
      await setImmediate()
      length = 0
    }
  }
  return all
}

/** @throws Failure invalid_json, missing_argument, invalid_argument */
async function judge<A>(
  sent: Read | Failure,
  problemsOf: (args: object) => Promise<Problems>,
): Promise<ReadLine<A>> {
  if (sent instanceof Failure) throw sent
  const { args, problems, missing, ignored } = sent
  if (missing.length === 0 && Object.keys(problems).length > 0)
    Object.assign(problems, await problemsOf(args))
  refuse(missing, problems)
  return { args: args as A, ignored }
}

/** What a function that may fail gives, or how it has failed. */
async function attempted<T>(work: () => T | Promise<T>): Promise<T | Failure> {
  try {
    return await work()
  } catch (failure) {
    if (failure instanceof Failure) return failure
    throw failure
  }
}
