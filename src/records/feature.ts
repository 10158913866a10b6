/**
 * What the service needs to know of a kind of record to serve, export, fill, check and protect it. `app.ts` lists them
 * all; a kind about which nothing more is true than its definition says is `plain(kind)`.
 * See docs/decisions/one-registry.md.
 */
import { decimalText } from '../base/money.ts'
import type { Settings } from '../base/settings.ts'
import type { Call, Resource } from '../http/endpoint.ts'
import type { Listing } from '../http/list.ts'
import type { Db } from '../storage/database.ts'
import type { Table } from '../storage/table.ts'
import type { Tables } from '../storage/tables.ts'
import { crud, listingOf } from './crud.ts'
import type { Fields } from './field.ts'
import { type Kind, partsOf } from './kind.ts'
import { plainRules } from './rules.ts'
import { storeOf } from './store.ts'

/** The columns of a CSV file. Amounts have all their decimals, so that they line up. */
export type SheetColumns<Row> = Readonly<Record<string, (row: Row, settings: Settings) => string | number>>

/** The CSV file of a list, where it is more than the record. */
export interface Sheet<Row, SheetRow = Row> {
  readonly columns: SheetColumns<SheetRow>
  /** What a page of the list becomes, such as rows with the names of those whom they refer to. */
  rowsOf(call: Call, rows: Row[]): Promise<SheetRow[]>
  /** Arguments of the list that every export has. */
  readonly always?: object
}

/** Looks for rows that can't be right, and describes each: 'payouts 5: …'. */
export type Check = (db: Db) => AsyncIterable<string>

export interface Feature {
  readonly kind: Kind
  /** Its own, and those that only it uses. */
  readonly tables: readonly Table[]
  readonly resource: Resource
  /** Endpoints that only the administration area has. */
  readonly inArea?: Resource
  // biome-ignore lint/suspicious/noExplicitAny: rows go from the list to its sheet, and nobody looks at them between.
  readonly listing: Listing<any, any>
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  readonly sheet: Sheet<any, any>
  readonly checks: readonly Check[]
  /** Fields that a bulk change writes, whose one event stands for all records. */
  readonly unlogged?: ((record: Readonly<Record<string, unknown>>) => readonly string[]) | undefined
  /** Whether a record is created together with another one, whose event stands for both. */
  readonly implied?: ((record: Readonly<Record<string, unknown>>) => boolean) | undefined
  /** Whether a record counts as deleted, and stays for the records that refer to it. */
  readonly ended?: ((record: Readonly<Record<string, unknown>>) => boolean) | undefined
  /** Whether `demo` creates samples of it by itself; others have samples written by hand. */
  readonly sampled: boolean
}

/** A file of the rows of the list as they are. */
export function sheetOf<Row>(columns: SheetColumns<Row>): Sheet<Row> {
  return { columns, rowsOf: async (_call, rows) => rows }
}

/** @param declared what goes beyond the definition */
export function feature<N extends string, T extends string, F extends Fields>(
  kind: Kind<N, T, F>,
  declared: Pick<Feature, 'resource' | 'listing'> & Partial<Feature>,
): Feature {
  return {
    kind: kind as unknown as Kind,
    tables: [kind.table],
    sheet: sheetOf(sheetColumns(kind as unknown as Kind)),
    checks: [],
    sampled: false,
    ...declared,
  }
}

export function plain<N extends string, T extends keyof Tables & string, F extends Fields>(
  kind: Kind<N, T, F>,
): Feature {
  const rules = plainRules(kind, storeOf(kind))
  const listing = listingOf(kind as never, rules as never)
  return feature(kind, { resource: crud(kind, rules), listing, sampled: true })
}

/** The record's fields, with the currency behind its amounts. */
function sheetColumns({ name, fields }: Kind): SheetColumns<Readonly<Record<string, unknown>>> {
  const columns: Record<string, SheetColumns<Record<string, unknown>>[string]> = {
    [`${name}_id`]: row => row.id as number,
  }
  for (const { name, column, field } of partsOf(fields).filter(({ field }) => field.wire)) {
    if (!field.money) columns[name] = (row, settings) => field.show(row[column], settings) as string | number
    else {
      columns[name] = (row, { decimals }) => decimalText(row[column] as number, decimals)
      columns.currency = (_row, { currency }) => currency
    }
  }
  return columns
}
