/**
 * Password hashing with scrypt: 'scrypt$N$r$p$salt$hash', so that the cost can be raised while old hashes keep
 * working.
 */
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { foldCase } from '../../base/text.ts'

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)
const HASH_BYTES = 32

/** Parameters of scrypt. */
interface Cost {
  readonly n: number
  readonly r: number
  readonly p: number
}

/** Recommended by OWASP's password storage cheat sheet. */
export const fullCost: Cost = { n: 2 ** 15, r: 8, p: 3 }
let cost = fullCost

/** For tests, which hash by the hundred: sets the cost of new hashes. */
export function hashAt(cheaper: Cost): void {
  cost = cheaper
}

/** Hashing shares Node's threads with file access, and each hash needs 32 MiB. */
const HASHES_AT_ONCE = 2

/** @returns what is wrong with a password, or undefined */
export async function passwordProblem(password: string): Promise<string | undefined> {
  const { length } = [...password]
  if (length < 8 || length > 1000) return 'must have 8 to 1000 characters.'
  if (await isCommon(password)) return 'must not be one of those that most people use, which are tried first.'
  return undefined
}

/** Loaded on demand: 50,000 words take a tenth of a second. */
async function isCommon(password: string): Promise<boolean> {
  const { dictionary } = await import('@zxcvbn-ts/language-common')
  return dictionary['passwords-common'].includes(foldCase(password))
}

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const { n, r, p } = cost
  const hash = await deriveHash(password, salt, n, r, p)
  return ['scrypt', n, r, p, salt.toString('base64url'), hash.toString('base64url')].join('$')
}

/** @param stored a result of `hashPassword`; '' never matches, and takes as long as a real one */
export async function passwordMatches(password: string, stored: string): Promise<boolean> {
  const [scheme, n, r, p, salt, hash] = (stored || nobody()).split('$')
  const expected = Buffer.from(hash!, 'base64url')
  const actual = await deriveHash(password, Buffer.from(salt!, 'base64url'), Number(n), Number(r), Number(p))
  return scheme === 'scrypt' && stored !== '' && timingSafeEqual(actual, expected)
}

/** A password for copying: 24 characters, 144 random bits. */
export function generatePassword(): string {
  return randomBytes(18).toString('base64url')
}

function nobody(): string {
  const hash = Buffer.alloc(HASH_BYTES).toString('base64url')
  return ['scrypt', cost.n, cost.r, cost.p, 'AAAAAAAAAAAAAAAAAAAAAA', hash].join('$')
}

let hashing = 0
const waitingForTurn: (() => void)[] = []

async function deriveHash(password: string, salt: Buffer, n: number, r: number, p: number): Promise<Buffer> {
  if (hashing < HASHES_AT_ONCE) hashing += 1
  else await new Promise<void>(resolve => waitingForTurn.push(resolve))
  try {
    return await derive(password.normalize('NFC'), salt, HASH_BYTES, { N: n, r, p, maxmem: 256 * n * r })
  } finally {
    // Passes the slot to the next in line.
    const next = waitingForTurn.shift()
    if (next) next()
    else hashing -= 1
  }
}
