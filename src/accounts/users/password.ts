/**
 * Passwords are kept as scrypt hashes: 'scrypt$N$r$p$salt$hash', so that the cost can grow and old hashes go on
 * working. N = 2^15, r = 8, p = 3 is the strength that OWASP's password storage cheat sheet asks for.
 */
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)
const N = 2 ** 15
const R = 8
const P = 3
const HASH_BYTES = 32
/** The threads that hash are also those that files are read with, and each hash needs 32 MiB. */
const HASHES_AT_ONCE = 2

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const hash = await deriveHash(password, salt, N, R, P)
  return ['scrypt', N, R, P, salt.toString('base64url'), hash.toString('base64url')].join('$')
}

/** @param stored what `hashPassword` returned; '' never matches, in the time that a real one takes */
export async function passwordMatches(password: string, stored: string): Promise<boolean> {
  const [scheme, n, r, p, salt, hash] = (stored || NOBODY).split('$')
  const expected = Buffer.from(hash!, 'base64url')
  const actual = await deriveHash(password, Buffer.from(salt!, 'base64url'), Number(n), Number(r), Number(p))
  return scheme === 'scrypt' && stored !== '' && timingSafeEqual(actual, expected)
}

/** A password that a person can copy: 24 characters, 144 random bits. */
export function generatePassword(): string {
  return randomBytes(18).toString('base64url')
}

const NOBODY = [
  'scrypt',
  N,
  R,
  P,
  'AAAAAAAAAAAAAAAAAAAAAA',
  Buffer.alloc(HASH_BYTES).toString('base64url'),
].join('$')

let hashing = 0
const waiting: (() => void)[] = []

async function deriveHash(password: string, salt: Buffer, n: number, r: number, p: number): Promise<Buffer> {
  if (hashing < HASHES_AT_ONCE) hashing += 1
  else await new Promise<void>(resolve => waiting.push(resolve))
  try {
    return await derive(password.normalize('NFC'), salt, HASH_BYTES, { N: n, r, p, maxmem: 256 * n * r })
  } finally {
    // Who is next takes the place over.
    const next = waiting.shift()
    if (next) next()
    else hashing -= 1
  }
}
