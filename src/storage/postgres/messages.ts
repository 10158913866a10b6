/**
 * The messages of PostgreSQL's extended query protocol that statements are sent by, written into one buffer: one write to
 * the socket, whatever a trip has in it.
 * See https://www.postgresql.org/docs/current/protocol-message-formats.html
 */

/** A value as it is sent: text, or nothing. */
export type WireValue = string | null

const MOST_VALUES = 65_535

/** @throws TypeError for what has no text that PostgreSQL reads */
export function wireValues(values: readonly unknown[]): WireValue[] {
  if (values.length > MOST_VALUES) throw new TypeError(`A statement takes ${MOST_VALUES} values at most.`)
  return values.map(wireValue)
}

function wireValue(value: unknown): WireValue {
  if (typeof value === 'string' || value === null) return value
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean')
    return String(value)
  if (value === undefined) return null
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`
  throw new TypeError('A value must be a number, text, bytes, true, false or null.')
}

/** No character takes more bytes in UTF-8 for each of its places in a string. */
const BYTES_PER_PLACE = 3
const FIRST_SIZE = 16_384

/** All trips of the process are written here, one after the other, and copied from here. */
let buffer = Buffer.allocUnsafe(FIRST_SIZE)
let length = 0

function reserve(bytes: number): void {
  if (length + bytes <= buffer.length) return
  const larger = Buffer.allocUnsafe(Math.max(length + bytes, buffer.length * 2))
  buffer.copy(larger, 0, 0, length)
  buffer = larger
}

/** @returns where its length is to be written */
function begin(type: number, atMost: number): number {
  reserve(atMost + 5)
  buffer[length] = type
  length += 5
  return length - 4
}

function end(at: number): void {
  buffer.writeInt32BE(length - at, at)
}

function text(value: string): void {
  length += buffer.write(value, length)
  buffer[length] = 0
  length += 1
}

function int16(value: number): void {
  buffer.writeUInt16BE(value, length)
  length += 2
}

const code = (letter: string) => letter.charCodeAt(0)
const [PARSE, BIND, DESCRIBE, EXECUTE, CLOSE, SYNC] = [...'PBDECS'].map(code) as [
  number,
  number,
  number,
  number,
  number,
  number,
]
const [STATEMENT, PORTAL] = [code('S'), code('P')]

/** The types of its values are PostgreSQL's to find. */
export function parse(name: string, statement: string): void {
  const at = begin(PARSE, BYTES_PER_PLACE * (name.length + statement.length) + 4)
  text(name)
  text(statement)
  int16(0)
  end(at)
}

export function bind(name: string, values: readonly WireValue[]): void {
  const at = begin(BIND, BYTES_PER_PLACE * name.length + 8)
  text('')
  text(name)
  int16(0)
  int16(values.length)
  for (const value of values) {
    reserve(4 + (value === null ? 0 : BYTES_PER_PLACE * value.length) + 2)
    const written = value === null ? -1 : buffer.write(value, length + 4)
    buffer.writeInt32BE(written, length)
    length += 4 + Math.max(0, written)
  }
  int16(0)
  end(at)
}

/** Asks for the columns of what is bound. */
export function describe(): void {
  const at = begin(DESCRIBE, 2)
  buffer[length] = PORTAL
  length += 1
  text('')
  end(at)
}

export function execute(): void {
  const at = begin(EXECUTE, 5)
  text('')
  buffer.writeInt32BE(0, length)
  length += 4
  end(at)
}

/** Closing a statement that there is none of is no error. */
export function close(name: string): void {
  const at = begin(CLOSE, BYTES_PER_PLACE * name.length + 2)
  buffer[length] = STATEMENT
  length += 1
  text(name)
  end(at)
}

export function sync(): void {
  end(begin(SYNC, 0))
}

/** What was written, which begins anew. */
export function taken(): Buffer {
  const messages = Buffer.from(buffer.subarray(0, length))
  length = 0
  // One that was very long is not kept for the short ones.
  if (buffer.length > FIRST_SIZE * 64) buffer = Buffer.allocUnsafe(FIRST_SIZE)
  return messages
}
