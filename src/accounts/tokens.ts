/**
 * Secrets that identify their holder: those of API keys, sessions, known browsers and links to reset a password. A token holds
 * 256 random bits, so a plain SHA-256 of it is enough to store, and is what it is looked up by.
 * See docs/decisions/keys-and-passwords.md.
 */
import { hash, randomBytes } from 'node:crypto'

export function newToken(): string {
  return randomBytes(32).toString('base64url')
}

export function hashToken(token: string): string {
  return hash('sha256', token, 'hex')
}
