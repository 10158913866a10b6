/**
 * Click tokens: signed text that stands for a visit. The shop hands it back with the sale, so it carries the affiliate itself,
 * even when the row of its visit was lost. Pure: it does not know where keys are stored.
 * See docs/decisions/click-tokens.md.
 */
import {
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
  randomInt,
  timingSafeEqual,
} from 'node:crypto'

/** The content of a token. */
export interface Click {
  readonly affiliateId: number
  /** The link that was followed; 0 when the address named the affiliate. */
  readonly linkId: number
  readonly campaign: string
  /** When, in seconds. */
  readonly time: number
  /** Identifies the visit: 11 characters, see `newNonce`. */
  readonly nonce: string
}

export interface ClickKey {
  /** Names the key in its tokens: from 1 to 2^32 - 1. */
  readonly id: number
  readonly secret: KeyObject
}

/**
 * Why a token credits nobody: no key of this service has signed it; its end is missing; it was altered; or it is older
 * than the window, in which case its content is known.
 */
type TokenRefusal = 'foreign' | 'cut' | 'forged' | 'old'

export type VerifiedToken =
  | { readonly click: Click; readonly refusal?: undefined }
  | { readonly click: Click; readonly refusal: 'old' }
  | { readonly click?: undefined; readonly refusal: Exclude<TokenRefusal, 'old'> }

const FORMAT = 1
const HEADER_BYTES = 6
const NONCE_BYTES = 8
const FIXED_BYTES = HEADER_BYTES + 4 + NONCE_BYTES + 8 + 8
const MAC_BYTES = 16
/** Keeps a token to 200 characters, which every payment provider can store. */
const CAMPAIGN_BYTES = 100

export const MAX_TOKEN = 200

/** Random bytes for many nonces at once: asking for each takes as long as the rest of a token. */
const NONCES = 512
let random = Buffer.alloc(0)
/** Of nonces. It begins anywhere, as two processes of one second differ only by it and by what is random. */
let count = randomInt(2 ** 16)

/**
 * The second, a counter and three random bytes: visits that are written together then stand side by side in the index of
 * nonces, and a batch changes a few of its pages instead of one for each visit.
 * @param time in seconds
 */
export function newNonce(time: number): string {
  if (random.length === 0) random = randomBytes(NONCES * NONCE_BYTES)
  random.writeUIntBE(time % 2 ** 24, 0, 3)
  count = (count + 1) % 2 ** 16
  random.writeUInt16BE(count, 3)
  const nonce = random.toString('base64url', 0, NONCE_BYTES)
  random = random.subarray(NONCE_BYTES)
  return nonce
}

/** @param secret 32 bytes as base64url */
export function clickKey(id: number, secret: string): ClickKey {
  return { id, secret: createSecretKey(secret, 'base64url') }
}

/** As much of a campaign's name as a token holds, in whole characters. */
export function campaignOf(name: string): string {
  let campaign = ''
  let bytes = 0
  for (const character of name.toWellFormed()) {
    bytes += Buffer.byteLength(character)
    if (bytes > CAMPAIGN_BYTES) break
    campaign += character
  }
  return campaign
}

/** @returns at most 200 characters of A-Z, a-z, 0-9, - and _ */
export function signClick({ affiliateId, linkId, campaign, time, nonce }: Click, key: ClickKey): string {
  const name = Buffer.from(campaignOf(campaign))
  const length = FIXED_BYTES + name.length
  const token = Buffer.allocUnsafe(length + MAC_BYTES)
  token[0] = FORMAT
  token.writeUInt32BE(key.id, 1)
  token[5] = length
  token.writeUInt32BE(time, HEADER_BYTES)
  token.write(nonce, HEADER_BYTES + 4, 'base64url')
  token.writeBigUInt64BE(BigInt(affiliateId), HEADER_BYTES + 12)
  token.writeBigUInt64BE(BigInt(linkId), HEADER_BYTES + 20)
  name.copy(token, FIXED_BYTES)
  macOf(token.subarray(0, length), key).copy(token, length)
  return token.toString('base64url')
}

/** What a token says of its time, in seconds, whoever has signed it; the script reads it alike. */
export function timeOf(token: string): number {
  const bytes = Buffer.from(token, 'base64url')
  return bytes.length < FIXED_BYTES ? 0 : bytes.readUInt32BE(HEADER_BYTES)
}

/**
 * @param keyOf finds a key of this service by its name in the token
 * @param since the first second of the window
 */
export function verifyClick(
  token: string,
  keyOf: (id: number) => ClickKey | undefined,
  since: number,
): VerifiedToken {
  const bytes = Buffer.from(token, 'base64url')
  if (bytes[0] !== FORMAT) return { refusal: 'foreign' }
  if (bytes.length < HEADER_BYTES) return { refusal: 'cut' }
  const key = keyOf(bytes.readUInt32BE(1))
  if (!key) return { refusal: 'foreign' }
  const length = bytes[5]!
  if (length < FIXED_BYTES) return { refusal: 'forged' }
  if (bytes.length < length + MAC_BYTES) return { refusal: 'cut' }
  // Spare bits in the last character are not allowed, so that each token has one text.
  const isWhole = bytes.length === length + MAC_BYTES && bytes.toString('base64url') === token
  if (!isWhole || !timingSafeEqual(bytes.subarray(length), macOf(bytes.subarray(0, length), key)))
    return { refusal: 'forged' }
  const click = {
    affiliateId: Number(bytes.readBigUInt64BE(HEADER_BYTES + 12)),
    linkId: Number(bytes.readBigUInt64BE(HEADER_BYTES + 20)),
    campaign: bytes.toString('utf8', FIXED_BYTES, length),
    time: bytes.readUInt32BE(HEADER_BYTES),
    nonce: bytes.toString('base64url', HEADER_BYTES + 4, HEADER_BYTES + 12),
  }
  return click.time < since ? { click, refusal: 'old' } : { click }
}

function macOf(signed: Buffer, { secret }: ClickKey): Buffer {
  return createHmac('sha256', secret).update(signed).digest().subarray(0, MAC_BYTES)
}
