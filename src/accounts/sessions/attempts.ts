/**
 * How often a log-in may fail. An attempt counts as failed from its beginning until the password has proved right, so
 * * that simultaneous attempts count as well as those in a row.
 *
 * Strangers are counted by what they typed and by the networks that they come from, and never by an account: that
 * would tell which logins and addresses belong together. A browser that somebody has logged in with is known by its
 * cookie and counted by itself, so that strangers can't keep it out.
 * See docs/decisions/log-in-attempts.md.
 */
import { hash, randomUUID } from 'node:crypto'
import { Failure } from '../../base/errors.ts'
import { networksOf } from '../../base/network.ts'
import { foldCase } from '../../base/text.ts'
import { now } from '../../base/time.ts'
import { waitForTurn } from '../../settings/store.ts'
import type { Database, Tx } from '../../storage/database.ts'
import type { User } from '../users/store.ts'
import * as store from './store.ts'

const ATTEMPTS = 10
/** Each wider network may fail this many times as often as the narrower one. */
const TIMES_AS_MANY = 10
const ATTEMPTS_SECONDS = 15 * 60

/** What attempts are counted by, and how many of them may fail. */
export interface Counter {
  readonly name: string
  readonly limit: number
}

type CounterKind = 'login' | 'network' | 'device' | 'password' | 'code' | 'forgotten' | 'asking' | 'letter'

const counter = (kind: CounterKind, value: string | number, limit = ATTEMPTS): Counter => ({
  name: `${kind} ${value}`,
  limit,
})

/** What was typed may be a password, or the address of somebody who is erased: only its hash is kept. */
const hashOf = (login: string) => hash('sha256', foldCase(login), 'base64url')
const ofLogin = (login: string): Counter => counter('login', hashOf(login))

const ofNetworks = (kind: CounterKind, address: string): Counter[] =>
  networksOf(address).map((network, width) => counter(kind, network, ATTEMPTS * TIMES_AS_MANY ** width))

export function ofStranger(login: string, address: string): Counter[] {
  return [ofLogin(login), ...ofNetworks('network', address)]
}

const LETTERS = 3

/** Limits requests for a new password; they count even when the account exists, so that mails stay few. */
export function ofForgotten(login: string, address: string): Counter[] {
  return [counter('forgotten', hashOf(login), LETTERS), ...ofNetworks('asking', address)]
}

/** Limits the mails that one account gets, under whatever name they are asked for. */
export const ofLetters = (userId: number): Counter[] => [counter('letter', userId, LETTERS)]

/** @param device the hash of the token in its cookie */
export const ofDevice = (device: string): Counter[] => [counter('device', device)]

/**
 * Limits codes of the second factor, which are asked for after the password: strangers together, who must not guess by coming
 * anew, and a browser that was logged in with by itself.
 * @param device the hash of the token in its cookie
 */
export const ofCodes = (userId: number, device?: string): Counter[] => [counter('code', device ?? userId)]

/** Limits password checks of an account that is logged in. */
export const ofAccount = (userId: number): Counter[] => [counter('password', userId)]

/**
 * @returns the attempt, to be removed when the password was right
 * @throws Failure too_many_requests
 */
export async function countAttempt(database: Database, counters: readonly Counter[]): Promise<string> {
  const attempt = randomUUID()
  await database.transaction(async tx => {
    await waitForTurn(tx)
    const time = now()
    // After the clock was set back, attempts with a later time count no longer than one of now.
    await store.bringAttemptsBack(tx, time)
    await removeOldAttempts(tx)
    let freeAt = time
    for (const { name, limit } of counters) {
      const last = await store.nthLatestAttempt(tx, name, limit)
      if (last !== undefined) freeAt = Math.max(freeAt, last + ATTEMPTS_SECONDS)
    }
    if (freeAt > time) throw tooManyAttempts(freeAt - time)
    await store.insertAttempts(
      tx,
      counters.map(({ name }) => ({ attempt, counter: name, tried_at: time })),
    )
  })
  return attempt
}

/** @returns true: nothing is left to remove */
export async function removeOldAttempts(tx: Tx): Promise<boolean> {
  await store.removeAttemptsBefore(tx, now() - ATTEMPTS_SECONDS)
  return false
}

/** Lets somebody who was locked out try again, under every name and with every browser. */
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
    message: `Too many tries. Try again in ${minutes} minute${minutes === 1 ? '' : 's'}.`,
    data: { retry_after: seconds },
  })
}
