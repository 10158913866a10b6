/** Rules shared by all kinds: reading, and create, edit and delete of a plain kind. */
import { Failure, type FailureName, type Problems, refuseInvalid } from '../base/errors.ts'
import type { Settings } from '../base/settings.ts'
import type { Search } from '../base/text.ts'
import { now } from '../base/time.ts'
import type { Action } from '../events/schema.ts'
import { type Context, type RequestContext, write } from '../events/write.ts'
import { type Tx, UniqueViolation } from '../storage/database.ts'
import type { Order, Page } from '../storage/page.ts'
import { withCandidates } from '../storage/search-index.ts'
import type { Fields } from './field.ts'
import type { Criteria } from './filters.ts'
import type { Kind, ReadRowOf, RowOf } from './kind.ts'
import { type Change, personOf, problemsOfReferences, type Store, type WholeRow } from './store.ts'

/** Read operations. */
export interface Reading<Row> {
  readonly orders: Readonly<Record<string, Order>>
  /** @throws Failure no_KIND */
  get(context: Context, id: number): Promise<Row>
  page(context: Context, args: object, page: Page): Promise<Row[]>
  count(context: Context, args: object): Promise<number>
}

/** Write operations. Each returns the row after the change, or before its deletion. */
export interface Writing<Create, Edit, Row> {
  create(context: RequestContext, args: Create): Promise<Row>
  /**
   * Creates many in one transaction, where that is faster: lines of a request, or requests of one caller that arrive at the
   * same moment.
   * @returns for each, in order, the row, or the failure that `create` would throw
   * @throws on failures that cannot be attributed to one record; nothing is created then, and `create` is called for each
   */
  createMany?(context: RequestContext, all: readonly Create[]): Promise<(Row | Failure)[]>
  edit(context: RequestContext, args: Edit): Promise<Row>
  remove(context: RequestContext, id: number): Promise<Row>
  /** Validation beyond the schemas, so that every problem is reported at once. */
  problems(context: Context, args: object): Promise<Problems>
}

/**
 * @returns the row
 * @throws Failure no_KIND if it is undefined
 */
export function existing<R>({ name }: Pick<Kind, 'name'>, row: R | undefined): R {
  if (row === undefined) throw new Failure(`no_${name}`)
  return row
}

/** Whether a change has no effect: then nothing is written, and the time of change stays. */
export function isAlready(row: object, change: object): boolean {
  const values: Readonly<Record<string, unknown>> = { ...row }
  return Object.entries(change).every(([name, value]) => values[name] === value)
}

type Narrowing = Pick<Kind, 'filterProblems' | 'criteria'>

/** The list's filters in stored form. @throws Failure invalid_argument */
export function narrowed(kind: Narrowing, args: object, settings: Settings) {
  refuseInvalid(kind.filterProblems(args, settings))
  return kind.criteria(args, settings)
}

/**
 * The same, with what an index says of the search.
 * @param goal all rows that match, or the first ones in the order of a list
 * @throws Failure invalid_argument
 */
export async function criteriaOf(
  { database, settings }: Context,
  kind: Narrowing,
  { searched }: Pick<Store<Fields>, 'searched'>,
  args: object,
  goal: 'all' | 'first',
): Promise<Criteria> {
  const criteria = narrowed(kind, args, await settings.current())
  const { search } = criteria
  if (search === undefined) return criteria
  const { engine, replica } = database
  return { ...criteria, search: await withCandidates(engine, replica, searched, search as Search, goal) }
}

/** @param rewrite puts another search in the place of one that names a record by something else than words */
export function readingOf<F extends Fields>(
  kind: Narrowing & Pick<Kind<string, string, F>, 'name'>,
  store: Pick<Store<F>, 'orders' | 'find' | 'page' | 'count' | 'searched'>,
  rewrite: (context: Context, args: object) => object | Promise<object> = (_, args) => args,
): Reading<ReadRowOf<F>> {
  const criteria = async (context: Context, args: object, goal: 'all' | 'first') =>
    criteriaOf(context, kind, store, await rewrite(context, args), goal)
  return {
    orders: store.orders,
    get: async ({ database }, id) => existing(kind, await store.find(database.replica, id)),
    page: async (context, args, page) =>
      store.page(context.database.replica, await criteria(context, args, 'first'), page),
    count: async (context, args) =>
      store.count(context.database.replica, await criteria(context, args, 'all')),
  }
}

/**
 * Wraps rules to translate the database's unique violations.
 * @param failure thrown instead
 */
export function refusingTwo<R extends Pick<Writing<object, object, unknown>, 'create' | 'edit'>>(
  rules: R,
  failure: FailureName,
): R {
  const refuse = async <T>(change: () => Promise<T>): Promise<T> => {
    try {
      return await change()
    } catch (cause) {
      if (cause instanceof UniqueViolation) throw new Failure(failure)
      throw cause
    }
  }
  return {
    ...rules,
    create: (context: RequestContext, args: object) => refuse(() => rules.create(context, args)),
    edit: (context: RequestContext, args: object) => refuse(() => rules.edit(context, args)),
  }
}

/** Rules of a kind whose definition says everything about it. */
export function plainRules<N extends string, T extends string, F extends Fields>(
  kind: Kind<N, T, F>,
  store: Store<F>,
): Reading<ReadRowOf<F>> & Writing<object, object, RowOf<F>> {
  const any = kind as unknown as Kind
  // Without personal fields the event needs no person.
  const person = async ({ database }: Context, tx: Tx, row: object) =>
    kind.table.logged.personal.length > 0 ? personOf(tx, database.schema, any, row) : null
  const action = (verb: string) => `${kind.name}.${verb}` as Action
  return {
    ...readingOf(kind as never, store),
    create: (context, args) =>
      write(context, async tx => {
        const settings = await context.settings.lock(tx)
        refuseInvalid({
          ...kind.problems(args, settings),
          ...(await problemsOfReferences(tx, context.database.schema, any, args)),
        })
        const origin = { time: now(), actor: context.actor.userId }
        const row = await store.insert(tx, kind.newRow(args, settings, origin) as unknown as WholeRow<F>)
        tx.log(action('create'), (row as { id: number }).id, {
          after: kind.logged(row, settings),
          person: await person(context, tx, row),
        })
        return row
      }),
    edit: (context, args) =>
      write(context, async tx => {
        const settings = await context.settings.lock(tx)
        const id = (args as Record<string, number>)[`${kind.name}_id`]!
        const before = existing(any, await store.lock(tx, id))
        refuseInvalid({
          ...kind.problems(args, settings),
          ...(await problemsOfReferences(tx, context.database.schema, any, args, before)),
        })
        const change = kind.keep(args, settings)
        if (isAlready(before, change)) return before
        const after = await store.update(tx, before, {
          ...change,
          updated_at: now(),
        } as unknown as Change<F>)
        tx.log(action('edit'), id, {
          before: kind.logged(before, settings),
          after: kind.logged(after, settings),
          person: await person(context, tx, after),
          formerPerson: await person(context, tx, before),
        })
        return after
      }),
    remove: (context, id) =>
      write(context, async tx => {
        const settings = await context.settings.lock(tx)
        const before = existing(any, await store.lock(tx, id))
        await store.remove(tx, id)
        tx.log(action('delete'), id, {
          before: kind.logged(before, settings),
          person: await person(context, tx, before),
        })
        return before
      }),
    problems: async ({ database, settings }, args) => {
      const id = (args as Record<string, number | undefined>)[`${kind.name}_id`]
      const before = id === undefined ? undefined : await store.find(database.reader, id)
      return {
        ...kind.problems(args, await settings.current()),
        ...(await problemsOfReferences(database.reader, database.schema, any, args, before)),
      }
    },
  }
}
