/**
 * What is true of each table and column, declared by the folder that owns it. Whatever works on all data (copy, check,
 * privacy, the lock of the currency, the log of events) reads it here instead of keeping a list of its own.
 * See docs/decisions/records-as-data.md.
 */
import type { ColumnType } from 'kysely'
import { foldAccents, foldCase } from '../base/text.ts'

/** What every column must declare, or it does not compile. */
export interface Facts {
  /** Whether it contains personal data, and if so, whether erasing the person empties it or leaves it. */
  readonly personal: false | 'erase' | 'keep'
  /** Whether it is an amount in the programme's currency, in minor units; `derived` if it is computed from other tables. */
  readonly money: boolean | 'derived'
}

/** The table of accounts, for folders that come before its own and cannot import it. */
export const ACCOUNTS = 'users'

/** A column that holds the identifier of a row of another table. */
export interface Reference {
  readonly table: string
  /** The column of the other table that it contains; the identifier if omitted. */
  readonly column?: string
  /** The row is part of the data about the person to whom it refers. */
  readonly person?: true
  /** The row stays when the other one is deleted. */
  readonly outlives?: true
}

export interface Column<K = unknown> extends Facts {
  readonly type: 'integer' | 'text'
  readonly nullable: boolean
  /** Never leaves the database. */
  readonly secret?: true
  readonly references?: Reference
  /** It has a second column NAME_key with its text in folded form (`foldCase`), for searches and comparisons. */
  readonly folded?: true
  /** It is a name, not an address or a code: it is folded by `foldAccents`, since it is only searched, never compared. */
  readonly isName?: boolean
  /** For the compiler only: the type of its values. */
  readonly holds?: K | undefined
}

type Columns = Readonly<Record<string, Column>>

/** The type of a column that the database fills in if a row has no value for it. */
export type { Generated } from 'kysely'

/** The type of an identifier, which the database assigns and never reuses. Only copies set it. */
export type Identity = ColumnType<number, number | undefined, never>

/** What the event log records about the rows, by the names of their fields. */
export interface Logged {
  /** The kind of record, the first part of its actions: `payout` of `payout.create`. */
  readonly kind: string
  readonly actions: readonly string[]
  /** The actions that can create a record; only `create` if omitted. */
  readonly creating?: readonly string[]
  /** Fields that are not personal: they stay in the log. */
  readonly plain: readonly string[]
  /** Fields that are emptied in the log when the person is erased whom the record is about. */
  readonly personal: readonly string[]
  /** Those of the fields above that only the administration area shows. */
  readonly ofArea?: readonly string[]
  /** The field with that person's account; `id` if the record itself is the account. */
  readonly person?: string
  /** A field of which every change has an event: for each of its values, the number of records is stored. */
  readonly counted?: string
  /** Whether `GET /v1/events` shows its events. */
  readonly public: boolean
  /** The permission to read its entries in the audit log, if that of the log is not enough. */
  readonly readBy?: string
}

export interface Table {
  readonly name: string
  /** The primary key. */
  readonly key: readonly string[]
  readonly columns: Columns
  /** `affiliated copy` copies it row by row; as a whole, because new databases have rows in it; or not at all. */
  readonly copied: 'rows' | 'whole' | 'never'
  /** Erasing a person removes their rows instead of emptying them. */
  readonly removedWithPerson?: true
  /** The database refuses to change or remove rows. */
  readonly appendOnly?: true
  /** A migration has created a search index of its `searchedColumns`. See docs/decisions/search.md. */
  readonly hasSearchIndex?: true
  readonly logged?: Logged
}

/** All tables of the service. A table comes after those that it refers to. */
export type Schema = readonly Table[]

/** The columns of a table as Kysely sees them. */
export type RowsOf<C extends Columns> = {
  [N in keyof C]: C[N] extends { readonly holds?: infer K } ? Exclude<K, undefined> : never
} & {
  [N in keyof C & string as C[N] extends { readonly folded: true } ? `${N}_key` : never]: string
}

type Rest = Partial<Pick<Column, 'secret' | 'references'>>

/** Neither personal nor money. */
export const neither = { personal: false, money: false } as const

/** The identifier of a row, which the database assigns. */
export const identity: Column<Identity> = { type: 'integer', nullable: false, ...neither }

/** A column of whole numbers. */
export const integer = <K = number>(facts: Facts & Rest): Column<K> => ({
  type: 'integer',
  nullable: false,
  ...facts,
})

/** A column of text. */
export const text = <K extends string = string>(facts: Facts & Rest): Column<K> => ({
  type: 'text',
  nullable: false,
  ...facts,
})

/** A column of text with another one, NAME_key, for the folded text. */
export const folded = (facts: Facts & Rest): Column<string> & { readonly folded: true } => ({
  ...text(facts),
  folded: true,
})

/** The same column, which may also be null. */
export const nullable = <K>(column: Column<K>): Column<K | null> => ({
  ...column,
  nullable: true,
  holds: undefined,
})

/** The columns that searches look at. */
export const searchedColumns = ({ columns }: Table): string[] =>
  Object.entries(columns).flatMap(([name, { folded }]) => (folded ? [`${name}_key`] : []))

/** The folded form of a text in a column. */
export const foldedText = ({ isName }: Pick<Column, 'isName'>, text: string): string =>
  isName ? foldAccents(text) : foldCase(text)

/** All columns of a table in the database, including those of folded text, by name. */
export function columnsOf({ columns }: Table): Map<string, Column> {
  const columnsByName = new Map<string, Column>()
  for (const [name, column] of Object.entries(columns)) {
    columnsByName.set(name, column)
    if (column.folded) columnsByName.set(`${name}_key`, { ...column, nullable: false })
  }
  return columnsByName
}
