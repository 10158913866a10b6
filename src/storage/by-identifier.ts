/**
 * Records that are asked for one at a time. Where the database is a trip away, over a network or to a thread, those
 * that requests ask for at the same moment come by one query: most of what a look-up costs there is the trip.
 */
import { type SelectQueryBuilder, sql } from 'kysely'
import type { Db } from './database.ts'
import { directRun, prepared } from './prepared.ts'
import type { Tables } from './tables.ts'

/** The identifiers of the next query, and who waits for each. */
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
  /** By the executor, which every view of a Db shares. */
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

/** To a power of two, by the last one over and over, so that a handful of queries is built, not one for each number. */
function padded(ids: number[]): number[] {
  const length = 2 ** Math.ceil(Math.log2(ids.length))
  return [...ids, ...Array<number>(length - ids.length).fill(ids.at(-1)!)]
}
