/**
 * Records that are asked for one at a time. Where the database is a trip away, over a network or to a thread, those
 * that requests ask for at the same moment come by one query: most of what a look-up costs there is the trip.
 */
import { type SelectQueryBuilder, sql } from 'kysely'
import type { Db } from './database.ts'
import { isDirect, prepared } from './prepared.ts'
import type { Tables } from './tables.ts'

type Waiting<R> = Map<number, PromiseWithResolvers<R | undefined>>

/**
 * @param rows selects the records
 * @param column the identifier; the records have it as `id`
 */
export function byIdentifier<T extends keyof Tables, R extends { id: number }>(
  rows: (db: Db) => SelectQueryBuilder<Tables, T, R>,
  column: string,
): (db: Db, id: number) => Promise<R | undefined> {
  const one = prepared((db: Db, { id }: { id: number }) =>
    rows(db).where(sql<boolean>`${sql.ref(column)} = ${id}`),
  )
  const several = prepared((db: Db, { ids }: { ids: readonly number[] }) =>
    rows(db).where(sql<boolean>`${sql.ref(column)} IN (${sql.join(ids)})`),
  )
  /** By the executor, which every view of a Db shares. */
  const waiting = new WeakMap<object, Waiting<R>>()

  const ask = async (db: Db, asked: Waiting<R>) => {
    waiting.delete(db.getExecutor())
    try {
      for (const row of await several(db, { ids: padded([...asked.keys()]) })) {
        asked.get(row.id)!.resolve(row)
      }
      for (const { resolve } of asked.values()) resolve(undefined)
    } catch (error) {
      for (const { reject } of asked.values()) reject(error)
    }
  }

  return async (db, id) => {
    if (isDirect(db)) return (await one(db, { id }))[0]
    const executor = db.getExecutor()
    let asked = waiting.get(executor)
    if (!asked) {
      asked = new Map()
      waiting.set(executor, asked)
      setImmediate(ask, db, asked)
    }
    let answer = asked.get(id)
    if (!answer) {
      answer = Promise.withResolvers()
      asked.set(id, answer)
    }
    return answer.promise
  }
}

/** To a power of two, by the last one over and over, so that a handful of queries is built, not one for each number. */
function padded(ids: number[]): number[] {
  const length = 2 ** Math.ceil(Math.log2(ids.length))
  return [...ids, ...Array<number>(length - ids.length).fill(ids.at(-1)!)]
}
