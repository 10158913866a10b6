/**
 * Limits failed log-ins. An attempt counts as failed from its beginning until the password has proved right, so
 * that concurrent attempts count like those in a row.
 *
 * Unknown browsers are counted by the login that was typed and by their networks, never by account: that
 * would reveal which logins and addresses belong together. A browser that has logged in before is recognised by its
 * cookie and counted separately, so that strangers cannot lock it out.
 * See docs/decisions/log-in-attempts.md.
 */
import { hash, randomUUID } from 'node:crypto'
import { Failure } from '../../base/errors.ts'
import { networksOf } from '../../base/network.ts'
import { foldCase } from '../../base/text.ts'
import { now } from '../../base/time.ts'
import { counted } from '../../base/words.ts'
import { waitForTurn } from '../../settings/store.ts'
import type { Database, Tx } from '../../storage/database.ts'
import type { User } from '../users/store.ts'
import * as store from './store.ts'

const ATTEMPTS = 10
/** Each wider network may fail this many times as often as the narrower one. */
const TIMES_AS_MANY = 10
const ATTEMPTS_SECONDS = 15 * 60

/** A counter of attempts, with its limit of failures. */
export interface Counter {
  readonly name: string
  readonly limit: number
}

type CounterKind = 'login' | 'network' | 'device' | 'password' | 'code' | 'forgotten' | 'asking' | 'letter'

const counter = (kind: CounterKind, value: string | number, limit = ATTEMPTS): Counter => ({
  name: `${kind} ${value}`,
  limit,
})

/** Hashed, since what was typed may be a password, or the address of an erased person. */
const hashOf = (login: string) => hash('sha256', foldCase(login), 'base64url')
const ofLogin = (login: string): Counter => counter('login', hashOf(login))

const ofNetworks = (kind: CounterKind, address: string): Counter[] =>
  networksOf(address).map((network, width) => counter(kind, network, ATTEMPTS * TIMES_AS_MANY ** width))

export function ofStranger(login: string, address: string): Counter[] {
  return [ofLogin(login), ...ofNetworks('network', address)]
}

const LETTERS = 3

/** Limits password reset requests. Those for existing accounts count too, so that mails stay few. */
export function ofForgotten(login: string, address: string): Counter[] {
  return [counter('forgotten', hashOf(login), LETTERS), ...ofNetworks('asking', address)]
}

/** Limits the reset mails per account, under whatever name they are requested. */
export const ofLetters = (userId: number): Counter[] => [counter('letter', userId, LETTERS)]

/** @param device the hash of the token in its cookie */
export const ofDevice = (device: string): Counter[] => [counter('device', device)]

/**
 * Limits second-factor codes, which follow the password: strangers share one counter per account, so that they cannot
 * guess by starting over; a known browser has its own.
 * @param device hash of the token in its cookie
 */
export const ofCodes = (userId: number, device?: string): Counter[] => [counter('code', device ?? userId)]

/** Limits password checks of an account that is logged in. */
export const ofAccount = (userId: number): Counter[] => [counter('password', userId)]

/**
 * Attempts that nobody refused, with their time, until they would expire: the database failed, and may not have let them
 * be removed either.
 */
const unrefused = new Map<string, number>()

/**
 * Runs what follows an attempt that is right so far. If it fails without refusing the attempt, that is not counted.
 * @param attempt undefined if none was necessary
 */
export async function unlessRefused<T>(attempt: string | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (attempt !== undefined && !(error instanceof Failure)) unrefused.set(attempt, now())
    throw error
  }
}

/**
 * @returns identifier of the attempt, which is removed when the password was right
 * @throws Failure too_many_requests
 */
export async function countAttempt(database: Database, counters: readonly Counter[]): Promise<string> {
  const attempt = randomUUID()
  const waitSeconds = await database.transaction(async tx => {
    await waitForTurn(tx)
    const time = now()
    // If the clock was set back, attempts with a later time count no longer than one made now.
    await store.bringAttemptsBack(tx, time)
    await removeOldAttempts(tx)
    let freeAt = time
    for (const { name, limit } of counters) {
      const last = await store.nthLatestAttempt(tx, name, limit)
      if (last !== undefined) freeAt = Math.max(freeAt, last + ATTEMPTS_SECONDS)
    }
    if (freeAt > time) return freeAt - time
    await store.insertAttempts(
      tx,
      counters.map(({ name }) => ({ attempt, counter: name, tried_at: time })),
    )
    return 0
  })
  // Not before it is committed: otherwise attempts would be brought back anew each time, and the lock would never end.
  if (waitSeconds > 0) throw tooManyAttempts(waitSeconds)
  return attempt
}

/** @returns false: nothing is left to remove */
export async function removeOldAttempts(tx: Tx): Promise<boolean> {
  const expired = now() - ATTEMPTS_SECONDS
  await store.removeAttemptsBefore(tx, expired)
  for (const [attempt, time] of unrefused) {
    if (time <= expired) unrefused.delete(attempt)
    else await store.removeAttempt(tx, attempt)
  }
  return false
}

/** Unlocks an account, for all its names and browsers. */
export async function forgetAttempts(tx: Tx, { id, login_key, email_key }: User): Promise<void> {
  const devices = await store.devicesOf(tx, id)
  const counters = [
    ofLogin(login_key),
    ofLogin(email_key),
    ...ofAccount(id),
    ...ofCodes(id),
    ...devices.flatMap(({ token_hash }) => [...ofDevice(token_hash), ...ofCodes(id, token_hash)]),
  ]
  await store.removeAttemptsIn(
    tx,
    counters.map(({ name }) => name),
  )
}

function tooManyAttempts(seconds: number): Failure {
  const minutes = Math.ceil(seconds / 60)
  return new Failure('too_many_requests', {
    message: `Too many tries. Try again in ${counted(minutes, 'minute')}.`,
    data: { retry_after: seconds },
  })
}
