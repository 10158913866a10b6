/**
 * What is true of each table and column, declared by the folder that owns it. Whatever works on all data (copy, check,
 * privacy, the lock of the currency, the log of events) reads it here instead of keeping a list of its own.
 * See docs/decisions/records-as-data.md.
 */
import type { ColumnType } from 'kysely'
import { foldAccents, foldCase } from '../base/text.ts'

/** Has to be said of every column: forgetting it does not compile. */
export interface Facts {
  /** Whether it is about a person, and what becomes of it when that person is erased. */
  readonly personal: false | 'erase' | 'keep'
  /** Whether it is an amount in the programme's currency; `derived` when it is computed from other tables. */
  readonly money: boolean | 'derived'
}

/** The table of accounts, which folders refer to that stand to the left of its own. */
export const ACCOUNTS = 'users'

/** A column that holds the identifier of a row of another table. */
export interface Reference {
  readonly table: string
  /** What it holds of that row; the identifier when omitted. */
  readonly column?: string
  /** The row is about the person whom it refers to. */
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
  /** Beside it stands NAME_key, the text folded by `foldCase`, to search and compare by. */
  readonly folded?: true
  /** It is folded by `foldAccents`, and only searched by: a name, and neither an address nor a code. */
  readonly isName?: boolean
  /** For the compiler alone: what the column holds. */
  readonly holds?: K | undefined
}

type Columns = Readonly<Record<string, Column>>

/** What the database fills in when nothing is said. */
export type { Generated } from 'kysely'

/** An identifier that the database gives out, never twice. Only copies set it. */
export type Identity = ColumnType<number, number | undefined, never>

/** What the log of events says of the rows, by the names of their fields. */
export interface Logged {
  /** The kind of record, the first part of its actions: `payout` of `payout.create`. */
  readonly kind: string
  readonly actions: readonly string[]
  /** Those of the actions that can create a record; `create` alone when omitted. */
  readonly creating?: readonly string[]
  /** Fields that stay in the log. */
  readonly plain: readonly string[]
  /** Fields that are emptied when the person is erased whom the record is about. */
  readonly personal: readonly string[]
  /** Those of both that only the administration area shows. */
  readonly ofArea?: readonly string[]
  /** The field that holds the account of that person, or `id` where the record is the account. */
  readonly person?: string
  /** A field and column, whose log is complete: how many records have each value is kept, and need not be counted. */
  readonly counted?: string
  /** Whether programs may read its events. */
  readonly public: boolean
  /** Who reads its entries in the audit log has this permission; who reads the log, when omitted. */
  readonly readBy?: string
}

export interface Table {
  readonly name: string
  /** The primary key. */
  readonly key: readonly string[]
  readonly columns: Columns
  /** By rows; as a whole, because it is small and filled in every new database; or not at all. */
  readonly copied: 'rows' | 'whole' | 'never'
  /** Its rows about a person are removed when the person is erased, and not only emptied. */
  readonly removedWithPerson?: true
  /** The database refuses to change or remove rows. */
  readonly appendOnly?: true
  /** A migration has made an index of `searchedColumns` for it, in which searches look parts of names up. */
  readonly hasSearchIndex?: true
  readonly logged?: Logged
}

/** Everything that the service keeps. What a table refers to comes before it. */
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

/** What a search looks through. */
export const searchedColumns = ({ columns }: Table): string[] =>
  Object.entries(columns).flatMap(([name, { folded }]) => (folded ? [`${name}_key`] : []))

/** What stands beside folded text. */
export const foldedText = ({ isName }: Pick<Column, 'isName'>, text: string): string =>
  isName ? foldAccents(text) : foldCase(text)

/** Every column by its name in the database, with those of folded text. */
export function columnsOf({ columns }: Table): Map<string, Column> {
  const columnsByName = new Map<string, Column>()
  for (const [name, column] of Object.entries(columns)) {
    columnsByName.set(name, column)
    if (column.folded) columnsByName.set(`${name}_key`, { ...column, nullable: false })
  }
  return columnsByName
}
