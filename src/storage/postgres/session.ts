/**
 * One connection to the server. Statements that are sent at the same moment travel together: one trip.
 *
 * Those that run again and again are prepared once by the server, under a name that is a hash of their text, so that whoever
 * else gets the same connection by way of a pooler never runs another statement by it. A pooler that takes clients to
 * connections where their statements are not prepared is found out by the first failure.
 * See docs/decisions/trips.md.
 */
import { hash } from 'node:crypto'
import type pg from 'pg'
import { serialize } from 'pg-protocol'
import { codeOf, messageOf } from '../../base/unknown.ts'
import { isServers, type Prepared, type Statement, Trip } from './trip.ts'

/** Statements that the server holds for one connection. Those in use come back soon when they were dropped. */
const NAMES_KEPT = 250

/** Longer ones are of many rows at once, hardly ever as many again. */
const LONGEST_NAMED = 10_000

const INVALID_STATEMENT_NAME = '26000'
const DUPLICATE_STATEMENT = '42P05'
/** Among others, of a prepared statement whose table has got other columns. */
const FEATURE_NOT_SUPPORTED = '0A000'

/** Whether the error is one of names: the same may be sent again. */
export function isOfNames(error: unknown): boolean {
  const code = codeOf(error)
  if (code === INVALID_STATEMENT_NAME || code === DUPLICATE_STATEMENT) return true
  return code === FEATURE_NOT_SUPPORTED && messageOf(error).startsWith('cached plan')
}

/** Whether statements get names, for all connections of a pool. */
export class Naming {
  isOn: boolean
  /** Raised when what was prepared is of no use any more. */
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

interface SessionOptions {
  readonly naming: Naming
  readonly types: pg.CustomTypesConfig
  /** Called when a trip begins; what it returns, when that has ended. */
  readonly onTrip: () => (isAnswered: boolean) => void
}

export class Session {
  readonly client: pg.PoolClient
  readonly #options: SessionOptions
  /** By their texts. */
  readonly #prepared = new Map<string, Prepared>()
  #epoch: number
  #waiting: Statement[] = []
  /** Somebody waits for what is waiting. */
  #isWanted = false
  #isAway = false
  #isLeaving = false

  constructor(client: pg.PoolClient, options: SessionOptions) {
    this.client = client
    this.#options = options
    this.#epoch = options.naming.epoch
  }

  /** It goes with the trip of what is sent next. */
  sendLater(statement: Statement): void {
    this.#waiting.push(statement)
  }

  /** It goes as soon as everything is sent that is sent at this moment. */
  send(statement: Statement): void {
    this.#waiting.push(statement)
    this.#isWanted = true
    this.#leave()
  }

  /** Drops what has not left. */
  drop(): void {
    this.#waiting = []
    this.#isWanted = false
  }

  #leave(): void {
    if (this.#isAway || this.#isLeaving) return
    this.#isLeaving = true
    // By then everything was sent that follows from the same answer, however many promises that passes.
    queueMicrotask(() => process.nextTick(this.#depart))
  }

  readonly #depart = (): void => {
    this.#isLeaving = false
    this.#isWanted = false
    const statements = this.#waiting
    if (statements.length === 0) return
    this.#waiting = []
    this.#isAway = true
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
    // It is there when something failed behind it.
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

/** Closing a statement that there is none of is no error. */
const closing = (name: string) => serialize.close({ type: 'S', name })
