/**
 * One connection to the server. Concurrent statements travel together, in one round trip.
 *
 * The server prepares a repeated statement once. Its name is the hash of its text: clients that share a connection through a pooler
 * never run another statement by that name. A pooler may move a client to a connection on which its statements are not prepared; the
 * first failure shows that, and statements get no names from then on.
 * See docs/decisions/trips.md.
 */
import { hash } from 'node:crypto'
import type pg from 'pg'
import { serialize } from 'pg-protocol'
import { codeOf, messageOf } from '../../base/unknown.ts'
import { isServers, type Prepared, type Statement, Trip } from './trip.ts'

/** Lifts the time limit of statements until the transaction ends. */
export const NO_LIMIT = 'SET LOCAL statement_timeout = 0'

/** Prepared statements per connection. If one is dropped that is in use, it is soon prepared again. */
const NAMES_KEPT = 250

/** Longer statements have many rows, and are rarely repeated with the same number of rows. */
const LONGEST_NAMED = 10_000

const INVALID_STATEMENT_NAME = '26000'
const DUPLICATE_STATEMENT = '42P05'
/** One of its causes: the columns of a prepared statement's table have changed. */
const FEATURE_NOT_SUPPORTED = '0A000'

/** Whether the error is about the name of a statement, which may then be sent again. */
export function isOfNames(error: unknown): boolean {
  const code = codeOf(error)
  if (code === INVALID_STATEMENT_NAME || code === DUPLICATE_STATEMENT) return true
  return code === FEATURE_NOT_SUPPORTED && messageOf(error).startsWith('cached plan')
}

/** Whether statements get names, for all connections of a pool. */
export class Naming {
  isOn: boolean
  /** Incremented when prepared statements have become invalid. */
  epoch = 0

  constructor(isOn: boolean) {
    this.isOn = isOn
  }

  learn(error: unknown): void {
    if (!isOfNames(error)) return
    if (codeOf(error) === FEATURE_NOT_SUPPORTED) this.epoch += 1
    else this.isOn = false
  }
}

/** The routine of the server that warns; the text of the warning depends on its language. */
const WAITING_FOR_STANDBYS = 'SyncRepWaitForLSN'

interface SessionOptions {
  readonly naming: Naming
  readonly types: pg.CustomTypesConfig
  /** Called when a trip begins; the result is called when it has ended. */
  readonly onTrip: () => (isAnswered: boolean) => void
}

export class Session {
  readonly client: pg.PoolClient
  /** When it was opened, in milliseconds of the process. */
  readonly openedAt = performance.now()
  /** Whether the connection cannot be used again. */
  isBroken = false
  /** Whether the server may take any time, as in a migration. */
  isUnlimited = false
  /** Whether the server has given up waiting for a standby: what it has just committed may be on no other machine. */
  isUnreplicated = false
  /** Which server it is on, once that has been heard. */
  server: string | undefined
  readonly #options: SessionOptions
  /** Keyed by text. */
  readonly #prepared = new Map<string, Prepared>()
  #epoch: number
  #waiting: Statement[] = []
  /** Whether somebody waits for a queued statement. */
  #isWanted = false
  #isAway = false
  #isLeaving = false

  constructor(client: pg.PoolClient, options: SessionOptions) {
    this.client = client
    this.#options = options
    this.#epoch = options.naming.epoch
    client.on('notice', ({ routine }) => {
      if (routine === WAITING_FOR_STANDBYS) this.isUnreplicated = true
    })
  }

  /** Queued until the next trip. */
  sendLater(statement: Statement): void {
    this.#waiting.push(statement)
  }

  /** Sent once all other statements of the same moment are queued. */
  send(statement: Statement): void {
    this.#waiting.push(statement)
    this.#isWanted = true
    this.#leave()
  }

  /** Drops queued statements. */
  drop(): void {
    this.#waiting = []
    this.#isWanted = false
  }

  #leave(): void {
    if (this.#isAway || this.#isLeaving) return
    this.#isLeaving = true
    // By then, all statements that follow from the same answer are queued, however many promises are in between.
    queueMicrotask(() => process.nextTick(this.#depart))
  }

  readonly #depart = (): void => {
    this.#isLeaving = false
    this.#isWanted = false
    const statements = this.#waiting
    if (statements.length === 0) return
    this.#waiting = []
    this.#isAway = true
    for (const { text } of statements) {
      if (text.startsWith('BEGIN')) this.isUnlimited = false
      else if (text === NO_LIMIT) this.isUnlimited = true
    }
    const end = this.#options.onTrip()
    const trip = new Trip(statements, {
      types: this.#options.types,
      prepare: this.#prepare,
      end: (error, failed = []) => {
        this.#isAway = false
        end(error === undefined || isServers(error))
        if (error !== undefined) this.#options.naming.learn(error)
        for (const { text } of failed) this.#prepared.delete(text)
        if (this.#isWanted) this.#leave()
      },
    })
    this.client.query(trip)
  }

  readonly #prepare = ({ text, isNamed }: Statement, messages: Buffer[]): Prepared => {
    const { naming } = this.#options
    if (this.#epoch !== naming.epoch) {
      this.#epoch = naming.epoch
      this.#prepared.clear()
    }
    if (!isNamed || !naming.isOn || text.length > LONGEST_NAMED) {
      messages.push(serialize.parse({ text }))
      return { name: '' }
    }
    const statement = this.#prepared.get(text)
    if (statement) return statement
    if (this.#prepared.size >= NAMES_KEPT) messages.push(this.#dropOldest())
    const prepared = { name: hash('sha256', text, 'base64url') }
    // The name exists already if a later statement of its trip failed.
    messages.push(closing(prepared.name), serialize.parse({ name: prepared.name, text }))
    this.#prepared.set(text, prepared)
    return prepared
  }

  #dropOldest(): Buffer {
    const [text, { name }] = this.#prepared.entries().next().value!
    this.#prepared.delete(text)
    return closing(name)
  }
}

/** Closing a statement that does not exist is no error. */
const closing = (name: string) => serialize.close({ type: 'S', name })
