/**
 * Seals what nobody may read from a database, a backup or a copy of it: the key is in none of them. It is given by
 * SECRET_KEY, or stands in a file that only its owner reads, by default beside the embedded database. A process works on
 * one database at a time, so there is one ring of keys.
 */
import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { Failure } from '../base/errors.ts'

const ALGORITHM = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

interface Key {
  readonly id: string
  readonly bytes: Buffer
}

let place: string | undefined
let ring: readonly Key[] | undefined

/**
 * Where the key is from now on, unless SECRET_KEY gives it.
 * @param file undefined when there is no place for one
 */
export function keepSecretKeyIn(file: string | undefined): void {
  place = file
  ring = undefined
}

/** Makes a key where there is a place for it and none yet. */
export function makeSecretKey(): void {
  if (process.env.SECRET_KEY === undefined && place !== undefined) keys(true)
}

/** The first key seals; the others only open, until everything is sealed anew. */
function keys(make: boolean): readonly Key[] {
  ring ??= process.env.SECRET_KEY ? parse(process.env.SECRET_KEY) : fromFile(make)
  if (ring.length === 0 && make) ring = fromFile(true)
  return ring
}

function fromFile(make: boolean): readonly Key[] {
  if (place === undefined) return []
  try {
    return parse(readFileSync(place, 'utf8'))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
  }
  if (!make) return []
  try {
    writeFileSync(place, `${newKey()}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    // Another process was faster.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
  return parse(readFileSync(place, 'utf8'))
}

const newKey = () => randomBytes(KEY_BYTES).toString('base64')

/** @throws Failure no_secret_key when one is no key */
function parse(text: string): readonly Key[] {
  return text
    .split(/[\s,]+/)
    .filter(part => part !== '')
    .map(part => {
      const bytes = Buffer.from(part, 'base64')
      if (bytes.length !== KEY_BYTES) {
        throw new Failure('secret_key', {
          message: 'The secret key must be 32 bytes, as Base64. `openssl rand -base64 32` makes one.',
        })
      }
      return { id: hash('sha256', bytes, 'hex').slice(0, 8), bytes }
    })
}

/**
 * @param about what the text belongs to: it opens for nothing else
 * @throws Failure secret_key when there is none
 */
export function seal(text: string, about: string): string {
  const [key] = keys(true)
  if (!key) throw new Failure('secret_key')
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(ALGORITHM, key.bytes, nonce)
  cipher.setAAD(Buffer.from(about))
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return `${key.id}.${Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')}`
}

/** @throws Failure secret_key when the key is not there, or the text was altered or belongs to something else */
export function unseal(text: string, about: string): string {
  const [id, body = ''] = text.split('.')
  let key = keys(false).find(key => key.id === id)
  if (!key) {
    // It may have been changed since it was read.
    ring = undefined
    key = keys(false).find(key => key.id === id)
  }
  if (!key) {
    throw new Failure('secret_key', {
      message: `What is stored was sealed by the secret key ${id}, which the service does not have: give it back by SECRET_KEY or --secret-key-file.`,
    })
  }
  const bytes = Buffer.from(body, 'base64url')
  const decipher = createDecipheriv(ALGORITHM, key.bytes, bytes.subarray(0, NONCE_BYTES))
  decipher.setAAD(Buffer.from(about))
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  try {
    return (
      decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
    )
  } catch (cause) {
    throw new Failure('secret_key', { message: 'What is stored was altered since it was sealed.', cause })
  }
}

/** Whether a text was sealed by the key that seals now. */
export function isSealedAnew(text: string): boolean {
  return text.startsWith(`${keys(false)[0]?.id}.`)
}

/**
 * Puts a new key before those of the file, or leaves only the first one.
 * @throws Failure secret_key when the key is not in a file
 */
export function rotateSecretKey(step: 'begin' | 'end'): void {
  if (process.env.SECRET_KEY || place === undefined) {
    throw new Failure('secret_key', {
      message:
        'The secret key is not in a file: put the new key before the old one in SECRET_KEY, with a comma.',
    })
  }
  const old = keys(true).map(({ bytes }) => bytes.toString('base64'))
  const lines = step === 'begin' ? [newKey(), ...old] : old.slice(0, 1)
  writeFileSync(`${place}.new`, `${lines.join('\n')}\n`, { mode: 0o600 })
  renameSync(`${place}.new`, place)
  ring = undefined
}
