/**
 * A transaction in as few round trips as possible: BEGIN travels with its first statement, and a statement that is run by `later`
 * with whatever is sent next, at the latest with COMMIT.
 * See docs/decisions/trips.md.
 */
import { codeOf } from '../../base/unknown.ts'
import { DatabaseUnavailable, type Tx } from '../database.ts'
import type { FarRun } from '../prepared.ts'
import { rowsOf } from '../rows.ts'
import { commits } from '../timing.ts'
import type { PostgresPool } from './pool.ts'
import { type Read, readingBy, statementOf } from './reading.ts'
import type { Session } from './session.ts'
import { NotRun, type Result } from './trip.ts'

/** Error of statements in a transaction that has already failed. */
const FAILED_TRANSACTION = '25P02'

const SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'

/** Runs work that reads what is committed at one moment. */
export const readSnapshot = <T>(pool: PostgresPool, work: (read: Read) => Promise<T>): Promise<T> =>
  pool.reading(session => new Transaction(session, SNAPSHOT).read(work))

type State = 'new' | 'open' | 'ended'

export class Transaction {
  readonly tx: Tx
  readonly #session: Session
  readonly #begin: string
  #state: State = 'new'
  /** Failure of a statement that was run by `later`: the transaction cannot be committed. */
  #failure: { readonly error: unknown } | undefined

  /** @param begin the statement that begins the transaction */
  constructor(session: Session, begin: string) {
    this.#session = session
    this.#begin = begin
    this.tx = Object.assign(readingBy(this.#read, this.#later), { writes: true } as const)
  }

  /** Runs the work and commits it; on failure it is rolled back, unless its outcome is unknown. */
  async do<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    try {
      const result = await this.#done(work)
      await this.#commit()
      return result
    } catch (error) {
      await this.#rollback()
      throw error
    }
  }

  /** The same for work that only reads, of which nothing is committed. @param work gets a function that reads */
  async read<T>(work: (read: Read) => Promise<T>): Promise<T> {
    try {
      return await this.#done(() => work(this.#read))
    } finally {
      await this.#rollback()
    }
  }

  async #done<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    try {
      return await work(this.tx)
    } catch (error) {
      throw this.#reasonOf(error)
    }
  }

  async #commit(): Promise<void> {
    if (this.#state === 'new') return
    let command: string
    try {
      const committing = this.#run('COMMIT')
      this.#state = 'ended'
      command = (await committing).command
    } catch (error) {
      if (error instanceof NotRun) {
        // COMMIT did not run, since an earlier statement of its trip failed: the transaction is still open.
        this.#state = 'open'
        throw this.#reasonOf(error)
      }
      if (error instanceof DatabaseUnavailable) {
        throw new DatabaseUnavailable(error.message, error.cause, 'in doubt')
      }
      throw error
    }
    // If a statement had failed, PostgreSQL answers COMMIT with ROLLBACK rather than an error.
    if (command !== 'COMMIT') {
      throw this.#reasonOf(new Error('The transaction was rolled back: a statement in it had failed.'))
    }
    this.#refuseUnreplicated()
    if (commits.hasSubscribers) commits.publish(undefined)
  }

  /** If the operator wants changes on a standby as well, a failover could lose this one, so it must not be reported as made. */
  #refuseUnreplicated(): void {
    if (!this.#session.isUnreplicated) return
    this.#session.isUnreplicated = false
    throw new DatabaseUnavailable(
      'PostgreSQL: a change is committed, and no standby has it: somebody has ended the wait for one',
      undefined,
      'in doubt',
    )
  }

  async #rollback(): Promise<void> {
    this.#session.drop()
    if (this.#state !== 'open') return
    try {
      const rollback = this.#run('ROLLBACK')
      this.#state = 'ended'
      await rollback
    } catch {
      // The connection is closed, which ends the transaction. The caller gets the earlier error.
      this.#session.isBroken = true
    }
  }

  /** The first failure, if an error may only be its consequence. */
  #reasonOf(error: unknown): unknown {
    if (this.#failure) return this.#failure.error
    return error instanceof NotRun ? error.cause : error
  }

  /** The same for a single statement. Its own error is kept, since the caller may roll back to a savepoint. */
  #originOf(error: unknown): unknown {
    return error instanceof NotRun || isConsequence(error) ? this.#reasonOf(error) : error
  }

  #run(text: string, values: readonly unknown[] = [], isNamed = true): Promise<Result> {
    return new Promise((resolve, reject) => {
      const settle = (result: Result) => {
        // Rolled back to a savepoint: what had failed since then is undone, so the transaction can be committed.
        if (result.command === 'ROLLBACK' && this.#state === 'open') this.#failure = undefined
        resolve(result)
      }
      const fail = (error: unknown) => reject(this.#state === 'ended' ? error : this.#originOf(error))
      const statement = statementOf({ text, values, isNamed }, settle, fail)
      this.#open()
      this.#session.send(statement)
    })
  }

  readonly #read: Read = async <R>(text: string, values: readonly unknown[], isNamed: boolean) =>
    rowsOf<R>((await this.#run(text, values, isNamed)).rows)

  readonly #later: FarRun['later'] = (text, values, refuse) => {
    const fail = (error: unknown) => this.#fail(error, refuse)
    const statement = statementOf({ text, values, isNamed: true }, () => {}, fail)
    this.#open()
    this.#session.sendLater(statement)
  }

  #open(): void {
    if (this.#state === 'open') return
    if (this.#state === 'ended') throw new Error('The transaction has ended.')
    this.#state = 'open'
    const begin = { text: this.#begin, values: [], isNamed: true }
    this.#session.sendLater(
      statementOf(
        begin,
        () => {},
        error => this.#fail(error),
      ),
    )
  }

  #fail(error: unknown, refuse?: (error: unknown) => never): void {
    if (this.#failure || error instanceof NotRun || isConsequence(error)) return
    this.#failure = { error: refusalOf(error, refuse) }
  }
}

/** The error to throw instead. */
function refusalOf(error: unknown, refuse?: (error: unknown) => never): unknown {
  try {
    return refuse ? refuse(error) : error
  } catch (other) {
    return other
  }
}

const isConsequence = (error: unknown) => codeOf(error) === FAILED_TRANSACTION
