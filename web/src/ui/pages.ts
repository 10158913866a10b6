/** Declaration of the pages of a kind of record. Each record's folder has one; `pages.ts` lists them all. */
import type { ComponentType } from 'react'
import type { RaRecord } from 'react-admin'

/** The sections of the menu, in order. */
export const sections = ['Start', 'Programme', 'Earning', 'Paying', 'Administration'] as const

interface Entry {
  /** Section of the menu. */
  readonly section: (typeof sections)[number]
  readonly icon: ComponentType
}

export interface RecordPages extends Entry {
  /** Name in the API and in addresses: 'referrals'. */
  readonly resource: string
  /** Name in identifiers and in the log: 'referral'. */
  readonly kind: string
  /** Display name, singular and plural. */
  readonly name: readonly [one: string, several: string]
  readonly list: ComponentType
  readonly create?: ComponentType
  readonly edit?: ComponentType
  readonly show?: ComponentType
  /** Title in the global search; kinds without it are not searched. */
  titleOf?(record: RaRecord<number>): string
  /** Further pages, by their path below the list's: ':id/ledger'. */
  readonly more?: Readonly<Record<string, ComponentType>>
  /** Query arguments of every read. */
  readonly reads?: Readonly<Record<string, unknown>>
  /** Sub-resources that are read along with a single record, such as 'notes', each with a field that it brings. */
  readonly below?: Readonly<Record<string, string>>
  /** Derived values that forms find in a record. */
  adds?(record: RaRecord<number>): object
  /** Fields that every edit sends, even when unchanged. */
  readonly always?: readonly string[]
  /** Fields that decide something together: who changes one of them is told what others have made of the rest. */
  readonly together?: readonly string[]
  /** Values in the words of the form, for the log, which has some of them, and for what others have made of them meanwhile. */
  words?(record: object, money: (amount: string) => string): Readonly<Record<string, string>>
  /**
   * Of a kind whose edits make new records: which of them has replaced the one that a form was opened with, as a filter
   * of the list.
   */
  replacing?(now: RaRecord<number>, before: object): Record<string, unknown> | undefined
  /** The request contains a secret, so it has no idempotency key: the server would have to remember it. */
  readonly secret?: true
  /** The field that a conflict (409) belongs to, by error code: the server names no argument for conflicts. */
  readonly conflicts?: Readonly<Record<string, { readonly create: string; readonly update: string }>>
  /** Display names of actions that differ from the action's own name. */
  readonly actions?: Readonly<Record<string, string>>
  /** Said in the place of a history without entries, where new records come without one each. */
  readonly unlogged?: string
  /** Actions that are done in many steps, each with an entry in the log: its history shows those of one action together. */
  readonly steps?: readonly string[]
}

/** A page that is not about a kind of record. */
export interface OtherPage extends Entry {
  readonly path: string
  readonly name: string
  readonly page: ComponentType
  /** The permission required to see it. */
  readonly needs?: string
  /** Subpages without an entry in the menu. */
  readonly below?: Readonly<Record<string, ComponentType>>
}

/** @returns the address of a record's page, if there is one: the read-only page, else the edit form */
export function pageOf({ resource, show, edit }: RecordPages, id: number): string | undefined {
  if (show) return `/${resource}/${id}/show`
  return edit ? `/${resource}/${id}` : undefined
}
