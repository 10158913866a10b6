/** Reads the report that PayPal gives of a mass payment: a table, whose columns and words have changed over the years. */
import type { Outcome } from '../outcome.ts'
import { readTable, unreadable } from './csv.ts'
import type { Entries } from './entry.ts'

const REFERENCES = [
  'unique id',
  'unique_id',
  'sender item id',
  'sender_item_id',
  'reference id',
  'customer id',
  'reference',
]
const STATUSES = ['transaction status', 'transaction_status', 'status']
const NOTES = ['error message', 'error', 'reason', 'errors', 'transaction id', 'transaction_id']

/** Not final: the payee has to claim it, or PayPal has to decide. */
const OPEN = ['unclaimed', 'pending', 'onhold', 'on hold', 'held', 'processing', 'new', 'created']

const outcomes: Readonly<Record<string, Outcome>> = {
  completed: 'paid',
  success: 'paid',
  processed: 'paid',
  failed: 'failed',
  denied: 'failed',
  blocked: 'failed',
  canceled: 'failed',
  cancelled: 'failed',
  returned: 'returned',
  refunded: 'returned',
  reversed: 'returned',
}

/** @throws Failure invalid_argument that names the line */
export function readPaypal(content: string): Entries {
  return readTable(
    content,
    {
      references: REFERENCES,
      statuses: STATUSES,
      notes: NOTES,
      amounts: ['gross amount', 'gross', 'amount'],
      currencies: ['currency', 'currency code'],
    },
    'a column such as Unique ID, and one such as Status',
    (text, line) => {
      const word = text.toLowerCase()
      if (OPEN.includes(word)) return undefined
      const outcome = Object.hasOwn(outcomes, word) ? outcomes[word] : undefined
      if (outcome === undefined)
        throw unreadable(`line ${line}: the status ${word.slice(0, 50)} is not known.`)
      return outcome
    },
  )
}
