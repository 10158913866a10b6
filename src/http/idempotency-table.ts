import { integer, neither, type RowsOf, type Table, text } from '../storage/table.ts'

const columns = {
  /** The public part of the API key, or the account of the session. */
  owner: text(neither),
  key: text(neither),
  /** SHA-256 of the request, 64 hexadecimal digits. */
  fingerprint: text(neither),
  status: integer(neither),
  location: text(neither),
  body: text({ personal: 'keep', money: false }),
  created_at: integer(neither),
} as const

/** Stored answers to writes with an Idempotency-Key. */
export const idempotencyTable = {
  name: 'idempotency_keys',
  key: ['owner', 'key'],
  columns,
  copied: 'rows',
} as const satisfies Table

export interface IdempotencyKeysTable extends RowsOf<typeof columns> {}

declare module '../storage/tables.ts' {
  interface Tables {
    idempotency_keys: IdempotencyKeysTable
  }
}
