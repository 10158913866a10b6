/**
 * Batches look-ups of single records. If the database is a round trip away, over a network or to a thread, look-ups of
 * concurrent requests are combined into one query: most of their cost is the round trip.
 */
import { type SelectQueryBuilder, sql } from 'kysely'
import type { Db } from './database.ts'
import { directRun, prepared } from './prepared.ts'
import type { Tables } from './tables.ts'

/** Identifiers of the next query, with the callers that wait for each. */
type Batch<R> = Map<number, PromiseWithResolvers<R | undefined>>

/**
 * @param rows selects the records
 * @param column the identifier; the records have it as `id`
 */
export function byIdentifier<T extends keyof Tables, R extends { id: number }>(
  rows: (db: Db) => SelectQueryBuilder<Tables, T, R>,
  column: string,
): (db: Db, id: number) => Promise<R | undefined> {
  const rowById = prepared((db: Db, { id }: { id: number }) =>
    rows(db).where(sql<boolean>`${sql.ref(column)} = ${id}`),
  )
  const several = prepared((db: Db, { ids }: { ids: readonly number[] }) =>
    rows(db).where(sql<boolean>`${sql.ref(column)} IN (${sql.join(ids)})`),
  )
  /** Keyed by the executor, which every view of a Db shares. */
  const batches = new WeakMap<object, Batch<R>>()

  const send = async (db: Db, batch: Batch<R>) => {
    batches.delete(db.getExecutor())
    try {
      for (const row of await several(db, { ids: padded([...batch.keys()]) })) {
        batch.get(row.id)!.resolve(row)
      }
      for (const { resolve } of batch.values()) resolve(undefined)
    } catch (error) {
      for (const { reject } of batch.values()) reject(error)
    }
  }

  return async (db, id) => {
    if (directRun(db)) return (await rowById(db, { id }))[0]
    const executor = db.getExecutor()
    let batch = batches.get(executor)
    if (!batch) {
      batch = new Map()
      batches.set(executor, batch)
      setImmediate(send, db, batch)
    }
    let row = batch.get(id)
    if (!row) {
      row = Promise.withResolvers()
      batch.set(id, row)
    }
    return row.promise
  }
}

/** Pads to a power of two by repeating the last identifier, so that only a few different queries are built. */
function padded(ids: number[]): number[] {
  const length = 2 ** Math.ceil(Math.log2(ids.length))
  return [...ids, ...Array<number>(length - ids.length).fill(ids.at(-1)!)]
}
