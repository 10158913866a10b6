import type {} from '../../events/schema.ts'
import { integer, neither, type RowsOf, type Table, text } from '../../storage/table.ts'

const personal = { personal: 'erase', money: false } as const

const columns = {
  /** SHA-256 of the cookie's token, 64 hexadecimal digits. */
  token_hash: text({ ...neither, secret: true }),
  user_id: integer({ ...neither, references: { table: 'users', person: true } }),
  created_at: integer(neither),
  expires_at: integer(neither),
} as const

const sessionColumns = {
  ...columns,
  /** Short description, see `browser.ts`. */
  browser: text(personal),
  /** Network of the log-in: /24 for IPv4, /48 for IPv6. */
  network: text(personal),
} as const

/** Sessions of the administration area. */
export const sessionsTable = {
  name: 'sessions',
  key: ['token_hash'],
  columns: sessionColumns,
  copied: 'rows',
  removedWithPerson: true,
  logged: {
    kind: 'session',
    actions: ['create', 'refuse', 'delete'],
    plain: [],
    personal: [],
    person: 'id',
    public: false,
    readBy: 'users.read',
  },
} as const satisfies Table

/** Browsers that have logged in before. */
export const devicesTable = {
  name: 'devices',
  key: ['token_hash'],
  columns,
  copied: 'rows',
  removedWithPerson: true,
} as const satisfies Table

const attemptColumns = {
  attempt: text(neither),
  /** Such as 'network 192.0.2.1', or a hash of the login that was typed. */
  counter: text(neither),
  tried_at: integer(neither),
} as const

/**
 * Log-in attempts that failed or are in progress, one row per counter; they expire within minutes, so `copy` skips
 * them.
 */
export const attemptsTable = {
  name: 'login_attempts',
  key: ['attempt', 'counter'],
  columns: attemptColumns,
  copied: 'never',
} as const satisfies Table

export interface SessionsTable extends RowsOf<typeof sessionColumns> {}
export interface DevicesTable extends RowsOf<typeof columns> {}
export interface LoginAttemptsTable extends RowsOf<typeof attemptColumns> {}

declare module '../../storage/tables.ts' {
  interface Tables {
    sessions: SessionsTable
    devices: DevicesTable
    login_attempts: LoginAttemptsTable
  }
}

declare module '../../events/schema.ts' {
  interface Actions {
    session: (typeof sessionsTable.logged.actions)[number]
  }
}
