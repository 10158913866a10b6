/**
 * Passwords are kept as scrypt hashes: 'scrypt$N$r$p$salt$hash', so that the cost can grow and old hashes go on
 * working.
 */
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { foldCase } from '../../base/text.ts'

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)
const HASH_BYTES = 32

/** The parameters of scrypt. */
interface Cost {
  readonly n: number
  readonly r: number
  readonly p: number
}

/** The strength that OWASP's password storage cheat sheet asks for. */
export const fullCost: Cost = { n: 2 ** 15, r: 8, p: 3 }
let cost = fullCost

/** For tests, which hash by the hundred: what a hash costs that is made from here on. */
export function hashAt(cheaper: Cost): void {
  cost = cheaper
}

/** The threads that hash are also those that files are read with, and each hash needs 32 MiB. */
const HASHES_AT_ONCE = 2

/** @returns what is wrong with a password, or undefined */
export async function passwordProblem(password: string): Promise<string | undefined> {
  const { length } = [...password]
  if (length < 8 || length > 1000) return 'must have 8 to 1000 characters.'
  if (await isCommon(password)) return 'must not be one of those that most people use, which are tried first.'
  return undefined
}

/** Loaded when somebody sets a password: 50,000 words take a tenth of a second. */
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

/** @param stored what `hashPassword` returned; '' never matches, in the time that a real one takes */
export async function passwordMatches(password: string, stored: string): Promise<boolean> {
  const [scheme, n, r, p, salt, hash] = (stored || nobody()).split('$')
  const expected = Buffer.from(hash!, 'base64url')
  const actual = await deriveHash(password, Buffer.from(salt!, 'base64url'), Number(n), Number(r), Number(p))
  return scheme === 'scrypt' && stored !== '' && timingSafeEqual(actual, expected)
}

/** A password that a person can copy: 24 characters, 144 random bits. */
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
    // Who is next takes the place over.
    const next = waitingForTurn.shift()
    if (next) next()
    else hashing -= 1
  }
}
