import { integer, neither, type RowsOf, type Table, text } from '../../storage/table.ts'

const clickKeyColumns = {
  /** From 1 to 2^32 - 1, by chance: the keys of two services have different ones. */
  id: integer(neither),
  /** 32 bytes as base64url. */
  secret: text({ ...neither, secret: true }),
  created_at: integer(neither),
} as const

/** What click tokens are signed with. The newest signs; the others tell what they have signed. */
export const clickKeysTable = {
  name: 'click_keys',
  key: ['id'],
  columns: clickKeyColumns,
  copied: 'rows',
} as const satisfies Table

const visitorSaltColumns = {
  id: integer(neither),
  /** Days since 1970. */
  day: integer(neither),
  salt: text({ ...neither, secret: true }),
} as const

/** One row: what visitors are hashed with today. Each day writes over it, and what was hashed before is nobody. */
export const visitorSaltTable = {
  name: 'visitor_salt',
  key: ['id'],
  columns: visitorSaltColumns,
  copied: 'never',
} as const satisfies Table

const visitorColumns = {
  /** Of the salt, the network, the browser and the affiliate. */
  hash: text({ personal: 'keep', money: false }),
  day: integer(neither),
} as const

/** Who came today, to tell repeats; removed when the day is over. */
export const visitorsTable = {
  name: 'visitors',
  key: ['hash'],
  columns: visitorColumns,
  copied: 'never',
} as const satisfies Table

interface ClickKeysTable extends RowsOf<typeof clickKeyColumns> {}
interface VisitorSaltTable extends RowsOf<typeof visitorSaltColumns> {}
interface VisitorsTable extends RowsOf<typeof visitorColumns> {}

declare module '../../storage/tables.ts' {
  interface Tables {
    click_keys: ClickKeysTable
    visitor_salt: VisitorSaltTable
    visitors: VisitorsTable
  }
}
