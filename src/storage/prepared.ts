/**
 * Queries that are built once. Building one takes Kysely longer than running it takes SQLite, so a query of the hot paths
 * is built at first use, with marks in place of values, and afterwards only receives its values.
 *
 * One function may build several queries: the text may depend on the shape of the arguments (which are present, and how many
 * values a list has), but never on a value.
 * See docs/decisions/prepared-queries.md.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Compilable, CompiledQuery } from 'kysely'
import { hasMembers } from '../base/unknown.ts'
import type { Db, Tx } from './database.ts'

/** Cached queries per function. A caller whose arguments always have new shapes has each query built. */
const SHAPES_KEPT = 100

/** How an engine runs prebuilt queries, bypassing Kysely's pools and plugins. */
export type Run = NearRun | FarRun

/** For the embedded engine, whose statements are no round trips. */
interface NearRun {
  readonly isNear: true
  readonly run: RunDirectly
  /** Only on a connection that writes. */
  readonly waiting?: Waiting
  /** Only on a connection that writes, see `lockOf`. */
  readonly lock?: () => object
}

/** Rows that are inserted together: see `insertTogether`. */
export interface Waiting {
  during<T>(work: () => Promise<T>): Promise<T>
  add<T extends object>(table: string, row: T): (T & { id: number }) | undefined
  pass<T>(query: () => T): T
}

export type RunDirectly = <R>(text: string, parameters: readonly unknown[]) => R[]

/** For an engine whose statements are round trips. */
export interface FarRun {
  readonly isNear: false
  run<R>(text: string, parameters: readonly unknown[]): Promise<R[]>
  /** Runs before the transaction's next statement, and fails the transaction if it fails. */
  later?(text: string, parameters: readonly unknown[], refuse?: Refuse): void
}

/** Replaces an error of the database: throws the one to fail with. */
export type Refuse = (error: unknown) => never

/** Keyed by the executor, which every view of a Db shares. */
const direct = new WeakMap<object, Run>()

/** Makes the prepared queries of a handle run without Kysely. */
export function runsDirectly(db: Db, run: Run): void {
  direct.set(db.getExecutor(), run)
}

/** A function that runs a statement at once; undefined if the database is a round trip away. */
export function directRun(db: Db): RunDirectly | undefined {
  const runner = direct.get(db.getExecutor())
  return runner?.isNear ? runner.run : undefined
}

/** The rows that wait to be inserted in a transaction of an embedded database; undefined for any other handle. */
export function waitingOf(db: Db): Waiting | undefined {
  const runner = direct.get(db.getExecutor())
  return runner?.isNear ? runner.waiting : undefined
}

/**
 * An object that stands for the lock by which this process keeps all others from writing. As long as it is the same one, only this
 * process can change what a transaction has read. Undefined if others may write at the same time.
 */
export function lockOf(tx: Tx): object | undefined {
  const runner = direct.get(tx.getExecutor())
  return runner?.isNear ? runner.lock?.() : undefined
}

interface Query<A, R> {
  (db: Db, args: A): Promise<R[]>
  /**
   * Runs before the transaction's next statement, at the latest with its commit. If the database is a round trip away, the promise
   * does not wait for the statement; if that fails, the transaction fails.
   */
  later(tx: Db, args: A, refuse?: Refuse): Promise<void>
}

let comparing = false

/** For tests: whenever a query runs, it is built with its values as well, and refused if the text differs. */
export function compareWithValues(): void {
  comparing = true
}

/**
 * @param build builds the query; it receives marks instead of values
 * @returns runs the query with the values of `args`
 */
export function prepared<A extends object, R>(build: (db: Db, args: A) => Compilable<R>): Query<A, R> {
  // Engines differ in their SQL, so each has its own templates, keyed by the adapter class of the engine.
  const templates = new WeakMap<object, Map<string, Template<R>>>()
  const built = (db: Db, args: A): { query: CompiledQuery<R>; parameters: unknown[] } => {
    const engine = db.getExecutor().adapter.constructor
    let byShape = templates.get(engine)
    if (!byShape) {
      byShape = new Map()
      templates.set(engine, byShape)
    }
    const shape = shapeOf(args)
    let template = byShape.get(shape)
    if (!template) {
      template = new Template(build(db, marked(args)).compile())
      if (byShape.size >= SHAPES_KEPT) byShape.delete(byShape.keys().next().value!)
      byShape.set(shape, template)
    }
    const parameters = template.fill(args)
    if (comparing) refuseOther(template.query.sql, parameters, build(db, args).compile())
    return { query: template.query, parameters }
  }
  const run = async (db: Db, args: A): Promise<R[]> => {
    const { query, parameters } = built(db, args)
    const runner = direct.get(db.getExecutor())
    if (runner?.isNear) return runner.run<R>(query.sql, parameters)
    if (runner) return runner.run<R>(query.sql, parameters)
    return (await db.executeQuery<R>({ ...query, parameters })).rows
  }
  const later = async (tx: Db, args: A, refuse?: Refuse): Promise<void> => {
    const runner = direct.get(tx.getExecutor())
    if (runner?.isNear === false && runner.later) {
      const { query, parameters } = built(tx, args)
      runner.later(query.sql, parameters, refuse)
      return
    }
    try {
      await run(tx, args)
    } catch (error) {
      throw refuse ? refuse(error) : error
    }
  }
  return Object.assign(run, { later })
}

function refuseOther(text: string, parameters: readonly unknown[], built: CompiledQuery): void {
  if (built.sql === text && isDeepStrictEqual(built.parameters, parameters)) return
  throw new TypeError(
    `A prepared query depends on a value, not only on the shape of its arguments. Built with marks: ${text} ${JSON.stringify(parameters)}; with values: ${built.sql} ${JSON.stringify(built.parameters)}`,
  )
}

/** Placeholder of a value: its path in the arguments. */
class Mark {
  readonly path: readonly string[]
  constructor(path: readonly string[]) {
    this.path = path
  }
}

class Template<R> {
  readonly query: CompiledQuery<R>
  readonly fill: (args: unknown) => unknown[]

  constructor(query: CompiledQuery<R>) {
    this.query = query
    this.fill = fillerOf(query.parameters)
  }
}

/**
 * Compiles a function that takes the values out of the arguments: it is faster than a loop over paths, as in rows.ts.
 * @param parameters their paths are names of the program and positions in lists, never text of a caller
 */
function fillerOf(parameters: readonly unknown[]): (args: unknown) => unknown[] {
  const values = parameters.map((parameter, index) =>
    parameter instanceof Mark
      ? `args${parameter.path.map(step => `[${JSON.stringify(step)}]`).join('')}`
      : `fixed[${index}]`,
  )
  return new Function('fixed', `return args => [${values.join(', ')}]`)(parameters)
}

/** The arguments with a mark in place of each value. */
function marked<A>(args: A): A {
  // Cast: building a query never looks at values, so marks can stand for them.
  return marksOf(args, []) as A
}

function marksOf(value: unknown, path: readonly string[]): unknown {
  if (typeof value !== 'object' || value === null) return new Mark(path)
  if (Array.isArray(value)) return value.map((item, index) => marksOf(item, [...path, String(index)]))
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([name, item]) => [name, marksOf(item, [...path, name])]),
  )
}

function shapeOf(value: unknown): string {
  if (!hasMembers(value)) return ''
  if (Array.isArray(value)) return `[${value.length}:${value.map(shapeOf).join()}]`
  let shape = '{'
  for (const name in value) {
    const item = value[name]
    if (item !== undefined) shape += `${name}${shapeOf(item)},`
  }
  return `${shape}}`
}
