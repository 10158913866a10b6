/** Kysely dialect for `node:sqlite`: how a connection runs queries, and SQL that SQLite lacks. */
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  type QueryResult,
  type SelectModifierNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { runsDirectly, type Waiting } from '../prepared.ts'
import { rowsOf } from '../rows.ts'
import type { Tables } from '../tables.ts'
import { queries, tellDuration } from '../timing.ts'
import { translate } from './errors.ts'
import { WaitingRows } from './waiting.ts'

/**
 * Kysely on a connection that writes.
 * @param lock see `lockOf`
 */
export function writerOn(
  run: (text: string, parameters: readonly unknown[]) => unknown[],
  lock: () => object,
): Kysely<Tables> {
  const waiting = new WaitingRows(run)
  return kyselyOn(new SqliteConnection(waiting.run), { waiting, lock })
}

/** Kysely on a connection. @param writing only for one that writes */
export function kyselyOn(
  connection: DatabaseConnection,
  writing?: { readonly waiting: Waiting; readonly lock: () => object },
): Kysely<Tables> {
  const driver = new OneConnection(connection)
  const db = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new Adapter(),
      createDriver: () => driver,
      createIntrospector: db => new SqliteIntrospector(db),
      createQueryCompiler: () => new Compiler(),
    },
  })
  if (connection instanceof SqliteConnection) {
    runsDirectly(db, { isNear: true, run: connection.run, ...writing })
  }
  return db
}

/** Lets queries run concurrently: otherwise Kysely would serialise those answered by threads. */
class Adapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

const ROW_LOCKS = new Set<SelectModifierNode['modifier']>([
  'ForUpdate',
  'ForShare',
  'ForKeyShare',
  'SkipLocked',
])

/** Omits row locks: the only writing transaction has the whole file. */
class Compiler extends SqliteQueryCompiler {
  protected override visitSelectModifier(node: SelectModifierNode): void {
    if (!ROW_LOCKS.has(node.modifier)) super.visitSelectModifier(node)
  }
}

export class SqliteConnection implements DatabaseConnection {
  /** Runs a statement; one without result columns returns no rows. */
  readonly run: <R>(text: string, parameters: readonly unknown[]) => R[]

  constructor(run: (text: string, parameters: readonly unknown[]) => unknown[]) {
    this.run = (text, parameters) => {
      const beganAt = queries.hasSubscribers ? performance.now() : 0
      try {
        return rowsOf(run(text, parameters))
      } catch (error) {
        throw translate(error)
      } finally {
        if (beganAt > 0) tellDuration(beganAt)
      }
    }
  }

  async executeQuery<R>({ sql: text, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    return { rows: this.run<R>(text, parameters) }
  }

  // biome-ignore lint/correctness/useYield: lists are read page by page, so that no reader holds the file.
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('Not supported: read page by page.')
  }
}

/** Provides the only connection; `SqliteDatabase` handles transactions. */
class OneConnection implements Driver {
  readonly #connection: DatabaseConnection
  constructor(connection: DatabaseConnection) {
    this.#connection = connection
  }
  async init() {}
  async acquireConnection() {
    return this.#connection
  }
  async releaseConnection() {}
  async destroy() {}
  async beginTransaction() {
    throw new Error('Use Database.transaction.')
  }
  commitTransaction = this.beginTransaction
  rollbackTransaction = this.beginTransaction
}
