/** Kysely on top of a function that runs statements. */
import {
  type CompiledQuery,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely'
import { type FarRun, runsDirectly } from '../prepared.ts'
import type { Tables } from '../tables.ts'
import { queries, tellDuration } from '../timing.ts'
import { translate } from './errors.ts'
import type { Result, Statement } from './trip.ts'
import { wireValues } from './values.ts'

/** A statement of a trip, which publishes its duration and translates its errors. */
export function statementOf(
  { text, values, isNamed }: { text: string; values: readonly unknown[]; isNamed: boolean },
  resolve: (result: Result) => void,
  reject: (error: unknown) => void,
): Statement {
  const beganAt = queries.hasSubscribers ? performance.now() : 0
  return {
    text,
    values: wireValues(values),
    isNamed,
    resolve: result => {
      if (beganAt > 0) tellDuration(beganAt)
      resolve(result)
    },
    reject: error => {
      if (beganAt > 0) tellDuration(beganAt)
      reject(translate(error))
    },
  }
}

/** Runs a statement; `isNamed` marks those that run repeatedly. */
export type Read = <R>(text: string, values: readonly unknown[], isNamed: boolean) => Promise<R[]>

/** Shared, since each transaction has its own Kysely, and creating a compiler takes 5 us. It has no state between queries. */
const compiler = new PostgresQueryCompiler()

/** Runs each query by the given function; does not support transactions. */
export function readingBy(read: Read, later?: FarRun['later']): Kysely<Tables> {
  const connection = {
    executeQuery: async <R>({ sql: text, parameters }: CompiledQuery): Promise<QueryResult<R>> => ({
      rows: await read<R>(text, parameters, false),
    }),
    // biome-ignore lint/correctness/useYield: lists are read page by page, so that no reader holds a connection.
    async *streamQuery(): AsyncIterableIterator<never> {
      throw new Error('Not supported: read page by page.')
    },
  }
  const refuse = async () => {
    throw new Error('Use Database.transaction.')
  }
  const driver: Driver = {
    init: async () => {},
    destroy: async () => {},
    acquireConnection: async () => connection,
    releaseConnection: async () => {},
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
  }
  const db = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => driver,
      createIntrospector: db => new PostgresIntrospector(db),
      createQueryCompiler: () => compiler,
    },
  })
  runsDirectly(db, {
    isNear: false,
    run: (text, values) => read(text, values, true),
    ...(later && { later }),
  })
  return db
}
