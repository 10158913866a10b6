/** Compares e-mail addresses by mailbox, as far as their text tells. */
import { domainToASCII } from 'node:url'
import { foldCase } from '../../base/text.ts'

const TAG = /(?<=.)\+.*$/s
/** Lower case of the Turkish capital dotted I. */
const DOTTED = /i\u0307/g

/**
 * Canonical form of a mailbox: ignores letter forms, case and +tags, and normalises Punycode hosts. For comparison only,
 * never stored or written to.
 */
export function mailboxOf(address: string): string {
  const text = foldCase(foldCase(address).normalize('NFKC')).replace(DOTTED, 'i')
  const at = text.lastIndexOf('@')
  if (at < 0) return text
  const host = text.slice(at + 1)
  return `${text.slice(0, at).replace(TAG, '')}@${domainToASCII(host) || host}`
}
