/** Whether two e-mail addresses are read by one person, as far as their text says. */
import { domainToASCII } from 'node:url'
import { foldCase } from '../../base/text.ts'

const TAG = /(?<=.)\+.*$/s
/** What the Turkish capital letter I with a dot becomes in small. */
const DOTTED = /i\u0307/g

/**
 * What addresses of one mailbox have in common: forms of a letter, its case, and what stands behind a + are without meaning, and
 * a host may be written in letters or in Punycode. Only compared, never stored or written to.
 */
export function mailboxOf(address: string): string {
  const text = foldCase(foldCase(address).normalize('NFKC')).replace(DOTTED, 'i')
  const at = text.lastIndexOf('@')
  if (at < 0) return text
  const host = text.slice(at + 1)
  return `${text.slice(0, at).replace(TAG, '')}@${domainToASCII(host) || host}`
}
