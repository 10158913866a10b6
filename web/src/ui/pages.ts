/** What the pages of a kind of record say of themselves. One of these stands in each record's folder, all of them in `pages.ts`. */
import type { ComponentType } from 'react'
import type { RaRecord } from 'react-admin'

/** The parts of the menu, in their order. */
export const sections = ['Start', 'Programme', 'Earning', 'Paying', 'Administration'] as const

interface Entry {
  /** Where it stands in the menu. */
  readonly section: (typeof sections)[number]
  readonly icon: ComponentType
}

export interface RecordPages extends Entry {
  /** As the interface calls them, and as their addresses begin: 'referrals'. */
  readonly resource: string
  /** As identifiers and the log call one: 'referral'. */
  readonly kind: string
  /** As people call one of them, and several. */
  readonly name: readonly [one: string, several: string]
  readonly list: ComponentType
  readonly create?: ComponentType
  readonly edit?: ComponentType
  readonly show?: ComponentType
  /** What one is called where everything is searched; those of a kind without are not found there. */
  titleOf?(record: RaRecord<number>): string
  /** Further pages, by their path below the list's: ':id/ledger'. */
  readonly more?: Readonly<Record<string, ComponentType>>
  /** Arguments of every reading. */
  readonly reads?: Readonly<Record<string, unknown>>
  /** What one record is read with that stands below it, such as 'notes'. */
  readonly below?: readonly string[]
  /** What forms find in a record that it has elsewhere. */
  adds?(record: RaRecord<number>): object
  /** Fields that every edit sends. */
  readonly always?: readonly string[]
  /** What is sent is secret, so that the server keeps nothing of it to know it again by. */
  readonly secret?: true
  /** Conflicts name no argument: the ones that they are about, by the code of the failure. */
  readonly conflicts?: Readonly<Record<string, { readonly create: string; readonly update: string }>>
  /** What the log calls its actions, where that is more than the action's own word. */
  readonly actions?: Readonly<Record<string, string>>
}

/** A page that is not about a kind of record. */
export interface OtherPage extends Entry {
  readonly path: string
  readonly name: string
  readonly page: ComponentType
  /** The permission without which there is nothing to see. */
  readonly needs?: string
  /** Pages below it that have no entry in the menu. */
  readonly below?: Readonly<Record<string, ComponentType>>
}

/** @returns where the page of a record is, when there is one: where it is looked at, else where it is edited */
export function pageOf({ resource, show, edit }: RecordPages, id: number): string | undefined {
  if (show) return `/${resource}/${id}/show`
  return edit ? `/${resource}/${id}` : undefined
}
