/**
 * Encryption ("sealing") of texts that must not be readable in a database, a backup or a copy, none of which contains the key. It
 * comes from SECRET_KEY, or from a file that only its owner can read, by default beside the embedded database. A process works on
 * one database at a time, so there is one set of keys.
 */
import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { Failure } from '../base/errors.ts'
import { naming, placeNew } from '../base/files.ts'

const ALGORITHM = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

interface Key {
  readonly id: string
  readonly bytes: Buffer
}

/** Sealed texts begin with the name of their key. */
export const KEY_NAME_LENGTH = 8
/** The key file. */
let place: string | undefined
let ring: readonly Key[] | undefined
/** The operator writes this and the name of a lost key beside the keys: texts sealed by that key are given up. */
const LOST = 'lost:'
let lost: readonly string[] = []

/**
 * Sets the key file, used unless SECRET_KEY is set.
 * @param file undefined if there is no place for one
 */
export function keepSecretKeyIn(file: string | undefined): void {
  place = file
  ring = undefined
}

/** Creates a key file if there is a place for it and none yet. */
export function makeSecretKey(): void {
  if (!isSecretKeyGiven() && place !== undefined) readAnew(true)
}

/** Whether there is any key. */
export const isAnyKeyHere = (): boolean => readAnew(false).length > 0

/** Checks that all these keys are present or given up. @throws Failure secret_key */
export function refuseMissingKeys(ids: readonly string[]): void {
  const there = new Set([...readAnew(false).map(({ id }) => id), ...lost])
  const missing = ids.filter(id => !there.has(id))
  if (missing.length === 0) return
  const file =
    place === undefined ? 'given neither by SECRET_KEY nor by --secret-key-file' : `not in ${place}`
  const where = isSecretKeyGiven() ? 'not in SECRET_KEY' : file
  throw new Failure('secret_key', {
    message: `What is stored was sealed by the secret key ${missing.join(', ')}, which is ${where}: put it back. If it is lost for good, write ${missing.map(id => LOST + id).join(',')} behind a key there; then enter payment details, secrets of sources and second factors anew.`,
  })
}

/** A warning for the log, if not only its owner can read the key file. */
export function openKeyWarning(): string | undefined {
  if (isSecretKeyGiven() || place === undefined || textOf(place) === undefined) return undefined
  if ((statSync(place).mode & 0o077) === 0) return undefined
  return `others can read the file of the secret key: chmod 600 ${place}`
}

/** Whether SECRET_KEY is set. Then the service cannot change the keys itself. */
export function isSecretKeyGiven(): boolean {
  return Boolean(process.env.SECRET_KEY)
}

/**
 * Reads the keys, each time anew, since another process may have changed the file. The first one seals; the others only open what
 * they have sealed, until a rotation has sealed everything anew.
 * @param make whether to create a missing file
 * @throws Failure secret_key if the file was there before and is gone: a new key would not open what is stored
 */
function readAnew(make: boolean): readonly Key[] {
  const text = isSecretKeyGiven() ? process.env.SECRET_KEY : textOf(place)
  if (text === undefined && ring !== undefined && ring.length > 0) {
    throw new Failure('secret_key', {
      message: `The file of the secret key is gone: put ${place} back, which has been there since this process began.`,
    })
  }
  const parts = (text ?? (make && place !== undefined ? createKeyFile(place) : '')).split(/[\s,]+/)
  lost = parts.filter(part => part.startsWith(LOST)).map(part => part.slice(LOST.length))
  ring = parse(parts.filter(part => part !== '' && !part.startsWith(LOST)))
  return ring
}

function textOf(file: string | undefined): string | undefined {
  if (file === undefined) return undefined
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw naming(file, error)
  }
}

/** @returns the key in the file, which is that of another process if that one was faster */
function createKeyFile(file: string): string {
  const beside = `${file}.${process.pid}`
  writeDurably(beside, `${newKey()}\n`)
  try {
    placeNew(beside, file)
  } finally {
    rmSync(beside, { force: true })
  }
  syncFolderOf(file)
  return readFileSync(file, 'utf8')
}

function writeDurably(file: string, text: string): void {
  // A file left by a killed process may be readable by others.
  rmSync(file, { force: true })
  writeFileSync(file, text, { mode: 0o600, flag: 'wx', flush: true })
}

/** Makes a rename durable. */
function syncFolderOf(file: string): void {
  const folder = openSync(dirname(file), 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

const newKey = () => randomBytes(KEY_BYTES).toString('base64')

/** @throws Failure secret_key if one is malformed */
function parse(parts: readonly string[]): readonly Key[] {
  return parts.map(part => {
    const bytes = Buffer.from(part, 'base64')
    if (bytes.length !== KEY_BYTES) {
      throw new Failure('secret_key', {
        message: 'The secret key must be 32 bytes, as Base64. `openssl rand -base64 32` makes one.',
      })
    }
    return { id: hash('sha256', bytes, 'hex').slice(0, KEY_NAME_LENGTH), bytes }
  })
}

/**
 * Must be called in a write transaction that has locked the settings, so that the key cannot be dropped before the text is
 * stored.
 * @param about what the text belongs to: it cannot be opened for anything else
 * @throws Failure secret_key if there is none
 */
export function seal(text: string, about: string): string {
  const [key] = readAnew(true)
  if (!key) throw new Failure('secret_key')
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(ALGORITHM, key.bytes, nonce)
  cipher.setAAD(Buffer.from(about))
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return `${key.id}.${Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')}`
}

function keyNamed(id: string | undefined): Key | undefined {
  const isIt = (key: Key) => key.id === id
  return ring?.find(isIt) ?? readAnew(false).find(isIt)
}

/** Whether a text has the form of the name of a key. */
export const isKeyName = (text: string): boolean => /^[0-9a-f]{8}$/.test(text)

/** The name of the key, and the rest as Base64url: nonce and tag at least. */
const SEALED = /^[0-9a-f]{8}\.[\w-]{38,}$/

/** Whether the key of a sealed text is missing. A text that is not sealed was altered, which can be said without any key. */
export const isKeyMissing = (text: string): boolean =>
  SEALED.test(text) && keyNamed(text.split('.')[0]) === undefined

/** @throws Failure secret_key if the key is missing, or the text was altered or belongs to something else */
export function unseal(text: string, about: string): string {
  if (!SEALED.test(text)) {
    throw new Failure('secret_key', {
      message: 'What is stored is no sealed text: it was changed beside the service.',
    })
  }
  const [id, body = ''] = text.split('.')
  const key = keyNamed(id)
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

/**
 * Prefixes of the texts that a rotation does not seal anew: those of the current key, and of keys that are given up.
 * @throws Failure secret_key
 */
export function leftPrefixes(): readonly string[] {
  const [key] = readAnew(true)
  if (!key) throw new Failure('secret_key')
  return [key.id, ...givenUp()].map(id => `${id}.`)
}

/** Names of the keys that are given up: marked as lost, and not found again since. */
export function givenUp(): readonly string[] {
  const keys = ring ?? readAnew(false)
  return lost.filter(id => !keys.some(key => key.id === id))
}

/**
 * Puts a new key before the current one in the file. If there are several, an earlier rotation was interrupted: the first
 * of them continues to seal. Must be called while nobody seals.
 * @throws Failure secret_key if there is no file, and SECRET_KEY has no new key before the old one
 */
export function beginRotation(): void {
  const before = readAnew(true)
  if (before.length > 1) return
  if (isSecretKeyGiven() || place === undefined) {
    throw new Failure('secret_key', {
      message:
        'The secret key is not in a file: put the new key before the old one in SECRET_KEY, with a comma, and do this again.',
    })
  }
  replaceFile(place, [newKey(), ...before.map(textOfKey), ...lost.map(id => LOST + id)])
}

/**
 * Leaves only the current key, and the names of those that are given up. Must be called while nobody seals, and once
 * nothing is sealed by another one.
 */
export function endRotation(): void {
  if (isSecretKeyGiven() || place === undefined) return
  const [current] = readAnew(false).map(textOfKey)
  replaceFile(place, [current!, ...givenUp().map(id => LOST + id)])
}

const textOfKey = ({ bytes }: Key) => bytes.toString('base64')

function replaceFile(file: string, lines: readonly string[]): void {
  writeDurably(`${file}.new`, `${lines.join('\n')}\n`)
  renameSync(`${file}.new`, file)
  syncFolderOf(file)
  ring = undefined
}
