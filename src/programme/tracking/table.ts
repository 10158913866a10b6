import type {} from '../../events/schema.ts'
import { integer, neither, type RowsOf, type Table, text } from '../../storage/table.ts'

const clickKeyColumns = {
  /** Random, from 1 to 2^32 - 1, so that the keys of two services differ. */
  id: integer(neither),
  /** 32 bytes as base64url. */
  secret: text({ ...neither, secret: true }),
  created_at: integer(neither),
} as const

/** The keys of click tokens. The newest signs; the others verify what they have signed. */
export const clickKeysTable = {
  name: 'click_keys',
  key: ['id'],
  columns: clickKeyColumns,
  copied: 'rows',
  logged: {
    kind: 'click_key',
    actions: ['create', 'delete'],
    plain: [],
    personal: [],
    public: false,
  },
} as const satisfies Table

const visitorSaltColumns = {
  id: integer(neither),
  /** Days since 1970. */
  day: integer(neither),
  salt: text({ ...neither, secret: true }),
} as const

/** One row: the salt for hashes of visitors today. It is replaced each day, so that older hashes identify nobody. */
export const visitorSaltTable = {
  name: 'visitor_salt',
  key: ['id'],
  columns: visitorSaltColumns,
  copied: 'never',
} as const satisfies Table

const visitorColumns = {
  /** Of the salt, the network, the browser and the affiliate. */
  day: integer(neither),
  hash: text({ personal: 'keep', money: false }),
} as const

/** The visitors of today, to recognise repeated visits; removed when the day is over. */
export const visitorsTable = {
  name: 'visitors',
  key: ['day', 'hash'],
  columns: visitorColumns,
  copied: 'never',
} as const satisfies Table

const scriptPageColumns = {
  /** A host of the settings; '' stands for all others. */
  place: text(neither),
  /** The page from which the script has last reported. */
  url: text({ personal: 'keep', money: false }),
  outcome: text(neither),
  affiliate_id: integer({ ...neither, references: { table: 'affiliates', outlives: true } }),
  /** When the script has last reported; 0 is never. */
  seen_at: integer(neither),
  /** When a report of it was last counted as a visit; 0 is never. */
  counted_at: integer(neither),
  /** When it was last loaded; 0 is never. */
  loaded_at: integer(neither),
} as const

/** Shows whether the script works on the pages of the shop. */
export const scriptPagesTable = {
  name: 'script_pages',
  key: ['place'],
  columns: scriptPageColumns,
  copied: 'never',
} as const satisfies Table

interface ScriptPagesTable extends RowsOf<typeof scriptPageColumns> {}
interface ClickKeysTable extends RowsOf<typeof clickKeyColumns> {}
interface VisitorSaltTable extends RowsOf<typeof visitorSaltColumns> {}
interface VisitorsTable extends RowsOf<typeof visitorColumns> {}

declare module '../../storage/tables.ts' {
  interface Tables {
    click_keys: ClickKeysTable
    visitor_salt: VisitorSaltTable
    visitors: VisitorsTable
    script_pages: ScriptPagesTable
  }
}

declare module '../../events/schema.ts' {
  interface Actions {
    click_key: (typeof clickKeysTable.logged.actions)[number]
  }
}
