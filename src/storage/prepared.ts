/**
 * Queries that are built once. Building one takes Kysely longer than running it takes SQLite, so what runs for every
 * request is built at its first use, with a mark in the place of each value, and from then on only gets its values.
 *
 * One function may make several queries: what it builds may depend on which arguments are there, and on how many
 * values a list has (their shape), but never on a value.
 * See docs/decisions/prepared-queries.md.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Compilable, CompiledQuery } from 'kysely'
import type { Db } from './database.ts'

/** Shapes that are kept for each function; a caller who sends others all the time pays for building them. */
const SHAPES_KEPT = 100

/** Runs a query without Kysely's way through pools and plugins, on engines that can. */
type RunDirectly = (text: string, parameters: readonly unknown[]) => unknown[]

/** By the executor, which every view of a Db shares. */
const direct = new WeakMap<object, RunDirectly>()

export function runsDirectly(db: Db, run: RunDirectly): void {
  direct.set(db.getExecutor(), run)
}

export function isDirect(db: Db): boolean {
  return direct.has(db.getExecutor())
}

/** Runs a statement without Kysely's way; undefined on engines that can't. */
export function directRun(db: Db): RunDirectly | undefined {
  return direct.get(db.getExecutor())
}

type Query<A, R> = (db: Db, args: A) => Promise<R[]>

let comparing = false

/**
 * From now on each query is built once more with its values, each time it runs, and refused where that makes another
 * one. It costs what building once saves: tests begin with it, and nothing else.
 */
export function compareWithValues(): void {
  comparing = true
}

/**
 * @param build makes the query; it is given marks instead of values
 * @returns runs the query with the values of `args`
 */
export function prepared<A extends object, R>(build: (db: Db, args: A) => Compilable<R>): Query<A, R> {
  // Engines write SQL differently, so each has templates of its own, found by the adapter that all its Dbs share.
  const templates = new WeakMap<object, Map<string, Template>>()
  return async (db, args) => {
    const executor = db.getExecutor()
    const engine = executor.adapter.constructor
    let byShape = templates.get(engine)
    if (!byShape) {
      byShape = new Map()
      templates.set(engine, byShape)
    }
    const shape = shapeOf(args)
    let template = byShape.get(shape)
    if (!template) {
      template = new Template(build(db, marked(args, []) as A).compile())
      if (byShape.size >= SHAPES_KEPT) byShape.delete(byShape.keys().next().value!)
      byShape.set(shape, template)
    }
    const parameters = template.fill(args)
    if (comparing) refuseOther(template.query.sql, parameters, build(db, args).compile())
    const run = direct.get(executor)
    if (run) return run(template.query.sql, parameters) as R[]
    return (await db.executeQuery({ ...template.query, parameters } as CompiledQuery<R>)).rows
  }
}

function refuseOther(text: string, parameters: readonly unknown[], built: CompiledQuery): void {
  if (built.sql === text && isDeepStrictEqual(built.parameters, parameters)) return
  throw new TypeError(
    `A prepared query depends on a value, not only on the shape of its arguments. Built with marks: ${text} ${JSON.stringify(parameters)}; with values: ${built.sql} ${JSON.stringify(built.parameters)}`,
  )
}

/** A place where a value belongs: how to find it in the arguments. */
class Mark {
  readonly path: readonly string[]
  constructor(path: readonly string[]) {
    this.path = path
  }
}

class Template {
  readonly query: CompiledQuery
  constructor(query: CompiledQuery) {
    this.query = query
  }

  fill(args: unknown): unknown[] {
    return this.query.parameters.map(parameter => {
      if (!(parameter instanceof Mark)) return parameter
      let value = args
      for (const step of parameter.path) value = (value as Record<string, unknown>)[step]
      return value
    })
  }
}

function marked(value: unknown, path: readonly string[]): unknown {
  if (typeof value !== 'object' || value === null) return new Mark(path)
  if (Array.isArray(value)) return value.map((item, index) => marked(item, [...path, String(index)]))
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([name, item]) => [name, marked(item, [...path, name])]),
  )
}

function shapeOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return ''
  if (Array.isArray(value)) return `[${value.length}:${value.map(shapeOf).join()}]`
  let shape = '{'
  for (const name in value) {
    const item = (value as Record<string, unknown>)[name]
    if (item !== undefined) shape += `${name}${shapeOf(item)},`
  }
  return `${shape}}`
}
