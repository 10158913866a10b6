/**
 * Declares a kind of record to the service: to serve, export, copy, check and protect it. `app.ts` lists them
 * all; a kind whose definition says everything about it is `plain(kind)`.
 * See docs/decisions/one-registry.md.
 */
import { decimalText } from '../base/money.ts'
import type { Settings } from '../base/settings.ts'
import type { Call, Resource, SignedEndpoint } from '../http/endpoint.ts'
import type { Listing } from '../http/list.ts'
import type { Db } from '../storage/database.ts'
import type { Table } from '../storage/table.ts'
import type { Tables } from '../storage/tables.ts'
import { crud, listingOf } from './crud.ts'
import { type Fields, partsOf } from './field.ts'
import type { Kind } from './kind.ts'
import { plainRules } from './rules.ts'
import { storeOf } from './store.ts'

/** Columns of a CSV file. Amounts have all their decimals, so that they line up. */
export type SheetColumns<Row> = Readonly<Record<string, (row: Row, settings: Settings) => string | number>>

/** CSV export of a list, if it is more than the record. */
export interface Sheet<Row, SheetRow = Row> {
  readonly columns: SheetColumns<SheetRow>
  /** Completes a page of the list, for example with names of referenced records. */
  rowsOf(call: Call, rows: Row[]): Promise<SheetRow[]>
  /** List arguments that every export adds. */
  readonly always?: object
}

/** Finds inconsistent rows, and describes each: 'payouts 5: …'. */
export type Check = (db: Db) => AsyncIterable<string>

export interface Feature {
  readonly kind: Kind
  /** Tables of this feature. */
  readonly tables: readonly Table[]
  readonly resource: Resource
  /** Endpoints for the administration area only. */
  readonly inArea?: Resource
  /** Endpoints for senders without an API key, beside those of the resource; the administration area has none of them. */
  readonly signed?: readonly SignedEndpoint[]
  // biome-ignore lint/suspicious/noExplicitAny: rows pass unseen from the list to its sheet.
  readonly listing: Listing<any, any>
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  readonly sheet: Sheet<any, any>
  readonly checks: readonly Check[]
  /** Fields that a mass change writes with one event for all records. */
  readonly unlogged?: ((record: Readonly<Record<string, unknown>>) => readonly string[]) | undefined
  /** Whether a record is created together with another one, whose event stands for both. */
  readonly implied?: ((record: Readonly<Record<string, unknown>>) => boolean) | undefined
  /** The record that another one goes on from: its first event says only what differs. */
  // biome-ignore lint/suspicious/noExplicitAny: a row of the feature's own kind.
  readonly precursor?: ((db: Db, row: any) => Promise<object | undefined>) | undefined
  /** Whether a record counts as deleted, though its row stays for the records that refer to it. */
  readonly ended?: ((record: Readonly<Record<string, unknown>>) => boolean) | undefined
  /** Whether `demo` generates samples of it; others have samples written by hand. */
  readonly sampled: boolean
}

/** A CSV file of the list's rows as they are. */
export function sheetOf<Row>(columns: SheetColumns<Row>): Sheet<Row> {
  return { columns, rowsOf: async (_call, rows) => rows }
}

/** @param declared everything beyond the definition */
export function feature<N extends string, T extends string, F extends Fields>(
  kind: Kind<N, T, F>,
  declared: Pick<Feature, 'resource' | 'listing'> & Partial<Feature>,
): Feature {
  if (kind.table.logged.counted && (declared.unlogged || declared.implied))
    throw new Error(`The number of ${kind.table.name} cannot be kept: some of their changes have no event.`)
  return {
    kind: kind as unknown as Kind,
    tables: [kind.table],
    sheet: sheetOf(sheetColumns(kind)),
    checks: [],
    sampled: false,
    ...declared,
  }
}

/**
 * What the registry gets of a kind whose definition says everything about it.
 * @param declared checks of its rows beyond those of every table
 */
export function plain<N extends string, T extends keyof Tables & string, F extends Fields>(
  kind: Kind<N, T, F>,
  declared: Pick<Partial<Feature>, 'checks'> = {},
): Feature {
  const rules = plainRules(kind, storeOf(kind))
  const listing = listingOf(kind as never, rules as never)
  return feature(kind, { resource: crud(kind, rules), listing, sampled: true, ...declared })
}

/** Lists and objects as JSON. */
const cellOf = (shown: unknown): string | number =>
  typeof shown === 'string' || typeof shown === 'number' ? shown : JSON.stringify(shown)

/** The record's fields, and the currency after its amounts. */
export function sheetColumns<N extends string, T extends string, F extends Fields>({
  name,
  fields,
}: Kind<N, T, F>): SheetColumns<Readonly<Record<string, unknown>>> {
  const columns: Record<string, SheetColumns<Record<string, unknown>>[string]> = {
    [`${name}_id`]: row => row.id as number,
  }
  for (const { name, column, field } of partsOf(fields).filter(({ field }) => field.wire)) {
    if (!field.money) columns[name] = (row, settings) => cellOf(field.show(row[column], settings))
    else {
      columns[name] = (row, { decimals }) => decimalText(row[column] as number, decimals)
      columns.currency = (_row, { currency }) => currency
    }
  }
  return columns
}
