/**
 * Codes of an authenticator app (TOTP, RFC 6238: six digits, 30 seconds, SHA-1, which every app supports), and recovery
 * codes, which have 80 random bits, so that a plain SHA-256 of them is enough to store.
 * See docs/decisions/second-factor.md.
 */
import { hash, randomBytes } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import { now } from '../../base/time.ts'
import type { Tx } from '../../storage/database.ts'
import type { Sealed } from '../../storage/resealing.ts'
import { seal, unseal } from '../../storage/secret-keys.ts'
import * as store from './store.ts'

const SECRET_BYTES = 20
const STEP_SECONDS = 30
/** Accepted steps before and after the current one: clocks of phones differ, and typing takes a while. */
const TOLERATED_STEPS = 1
const RECOVERY_CODES = 10
const RECOVERY_BYTES = 10

const aboutOf = (userId: number) => `second factor of account ${userId}`

function codesOf(secret: string, label = ''): TOTP {
  return new TOTP({ issuer: 'affiliated', label, secret: Secret.fromBase32(secret), period: STEP_SECONDS })
}

export function newSecret(login: string): { secret: string; uri: string } {
  const secret = new Secret({ size: SECRET_BYTES }).base32
  return { secret, uri: codesOf(secret, login).toString() }
}

/** Must run in a transaction that has locked the settings. @throws Failure secret_key */
export const sealedFactor = (userId: number, secret: string): string => seal(secret, aboutOf(userId))

/** @returns the codes, which are never shown again, and their hashes to store */
export function newRecoveryCodes(): { codes: string[]; hashes: string[] } {
  const codes = Array.from({ length: RECOVERY_CODES }, () => {
    const text = new Secret({ buffer: new Uint8Array(randomBytes(RECOVERY_BYTES)).buffer }).base32
    return text.match(/.{4}/g)!.join('-')
  })
  return { codes, hashes: codes.map(code => hashOf(readable(code))) }
}

const hashOf = (code: string) => hash('sha256', code, 'hex')
const readable = (code: string) => code.replace(/[\s-]/g, '').toUpperCase()

/**
 * Consumes a code of the app or a recovery code: each works once.
 * @returns whether it is valid
 * @throws Failure secret_key
 */
export async function takeCode(tx: Tx, userId: number, typed: string): Promise<boolean> {
  const code = readable(typed)
  if (!/^\d{6}$/.test(code)) return store.takeRecoveryCode(tx, userId, hashOf(code))
  const factor = await store.lockFactor(tx, userId)
  if (!factor) return false
  const time = now()
  const codes = codesOf(unseal(factor.secret, aboutOf(userId)))
  const stepsOff = codes.validate({ token: code, timestamp: time * 1000, window: TOLERATED_STEPS })
  if (stepsOff === null) return false
  const step = Math.floor(time / STEP_SECONDS) + stepsOff
  if (step <= factor.last_step) return false
  await store.setStep(tx, userId, step)
  return true
}

export const sealedFactors: Sealed = {
  table: 'second_factors',
  column: 'secret',
  key: 'user_id',
  about: ({ key }) => aboutOf(key),
}
