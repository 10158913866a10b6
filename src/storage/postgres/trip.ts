/** Statements that travel together in one round trip. They run in order, and none after one that has failed. */
import { Duplex } from 'node:stream'
import { setImmediate as afterOthers } from 'node:timers'
import pg from 'pg'
import { serialize } from 'pg-protocol'
import { memberOf } from '../../base/unknown.ts'
import type { WireValue } from './values.ts'

export type Row = Record<string, unknown>

export interface Statement {
  readonly text: string
  readonly values: readonly WireValue[]
  /** Whether the statement runs repeatedly. */
  readonly isNamed: boolean
  resolve(result: Result): void
  reject(error: unknown): void
}

export interface Result {
  readonly rows: Row[]
  /** Such as 'COMMIT', or 'INSERT 0 1'. */
  readonly command: string
}

/** The statement did not run, because an earlier one in the same trip failed. */
export class NotRun extends Error {
  constructor(cause: unknown) {
    super('A statement before this one has failed.', { cause })
    this.name = 'NotRun'
  }
}

/** Whether the error is from the server rather than the connection. */
export function isServers(error: unknown): boolean {
  return error instanceof pg.DatabaseError
}

interface Field {
  readonly name: string
  readonly dataTypeID: number
}

type Parser = (text: string) => unknown

/** How to read a statement's columns. */
interface Shape {
  readonly names: readonly string[]
  readonly parsers: readonly Parser[]
}

/** Name of a statement on the server, or none. */
export interface Prepared {
  readonly name: string
  /** Known after the first run. */
  shape?: Shape | undefined
}

/** The connection that `pg` passes to the builder of messages. */
interface Connection {
  sendCopyFail(message: string): void
}

/** The socket of a connection, to which `pg` gives no public access. */
export function streamOf(connection: unknown): Duplex {
  const stream = memberOf(connection, 'stream')
  if (!(stream instanceof Duplex)) throw new TypeError('this version of pg keeps its sockets elsewhere')
  return stream
}

interface TripOptions {
  readonly types: pg.CustomTypesConfig
  /** Adds the messages that the server needs before it can bind the statement. */
  readonly prepare: (statement: Statement, messages: Buffer[]) => Prepared
  /** @param failed the statements that did not run, if there was an error */
  readonly end: (error?: unknown, failed?: readonly Statement[]) => void
}

/** Implements the interface of `pg`: submits the messages, and handles each answer. */
export class Trip implements pg.Submittable {
  readonly #statements: readonly Statement[]
  readonly #options: TripOptions
  readonly #prepared: Prepared[] = []
  readonly #results: Result[] = []
  #rows: Row[] = []
  #isSubmitted = false
  #hasEnded = false

  constructor(statements: readonly Statement[], options: TripOptions) {
    this.#statements = statements
    this.#options = options
  }

  submit(connection: pg.Connection): void {
    const stream = streamOf(connection)
    this.#isSubmitted = true
    const messages: Buffer[] = []
    for (const statement of this.#statements) {
      const prepared = this.#options.prepare(statement, messages)
      this.#prepared.push(prepared)
      messages.push(serialize.bind({ statement: prepared.name, values: [...statement.values] }))
      if (prepared.shape === undefined) messages.push(serialize.describe({ type: 'P' }))
      messages.push(serialize.execute())
    }
    messages.push(serialize.sync())
    // One write to the socket, whatever the size of the trip.
    if (stream.writable) stream.write(Buffer.concat(messages))
  }

  handleRowDescription({ fields }: { fields: readonly Field[] }): void {
    const { types } = this.#options
    this.#prepared[this.#results.length]!.shape = {
      names: fields.map(({ name }) => name),
      parsers: fields.map(({ dataTypeID }): Parser => types.getTypeParser(dataTypeID, 'text')),
    }
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    const { names, parsers } = this.#prepared[this.#results.length]!.shape!
    const row: Row = {}
    for (let index = 0; index < names.length; index += 1) {
      const value = fields[index]!
      row[names[index]!] = value === null ? null : parsers[index]!(value)
    }
    this.#rows.push(row)
  }

  handleCommandComplete({ text }: { text: string }): void {
    // A statement without result columns has no row description; with this, it is not asked for again.
    this.#prepared[this.#results.length]!.shape ??= { names: [], parsers: [] }
    this.#results.push({ rows: this.#rows, command: text })
    this.#rows = []
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete({ text: '' })
  }

  handleCopyInResponse(connection: Connection): void {
    connection.sendCopyFail('Nothing is copied.')
  }

  handleReadyForQuery(): void {
    this.#hasEnded = true
    this.#options.end()
    for (const [index, result] of this.#results.entries()) this.#statements[index]!.resolve(result)
  }

  /** An error of a statement or of the connection; in the latter case it is unknown which statements ran. */
  handleError(error: unknown): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    // An error that comes after the results of all statements is given to the last one.
    const doneCount = Math.min(this.#results.length, this.#statements.length - 1)
    const failed = this.#statements.slice(doneCount)
    this.#options.end(error, failed)
    for (const [index, result] of this.#results.slice(0, doneCount).entries()) {
      this.#statements[index]!.resolve(result)
    }
    const [first, ...others] = failed
    first!.reject(error)
    const reason = this.#isSubmitted && !isServers(error) ? error : new NotRun(error)
    // The others are rejected later, so that a caller who awaits all of them gets the original error.
    if (others.length === 0) return
    afterOthers(() => {
      for (const { reject } of others) reject(reason)
    })
  }
}
