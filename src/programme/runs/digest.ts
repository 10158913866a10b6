/**
 * What a run's hash stands for: its payer, the day on which it is to be paid, and each item with its payee. The hash is in the log of events, so what is changed
 * beside the service after somebody has approved it is noticed before a file pays it, and by `check`. Pure.
 */
import { hash } from 'node:crypto'
import type { Item } from './item.ts'
import type { Run } from './run.ts'

type PayeeColumns = Pick<Item, 'payee_name' | 'payee_account' | 'details_id'>
/** What the files of a run say to the bank, beside the payments. */
type Order = Pick<Run, 'payer' | 'execution_date'>
type Decision = Pick<Item, 'affiliate_id' | 'status' | 'reason' | 'amount' | 'reference' | 'digest'>

/** Apart from the rest, since the personal data of a payee may be erased later. */
const SEPARATOR = '.'

/** Of an item: first what it is paid for, then who is paid and where to. @param reasons what the payment rests on */
export function itemDigest(reasons: readonly unknown[], payee: PayeeColumns): string {
  const paidFor = hash('sha256', JSON.stringify(reasons), 'base64url')
  return [paidFor, payeeDigest(paidFor, payee)].join(SEPARATOR)
}

const payeeDigest = (paidFor: string, { payee_name, payee_account, details_id }: PayeeColumns) =>
  hash('sha256', JSON.stringify([paidFor, payee_name, payee_account, details_id]), 'base64url')

/**
 * The digest of a run begins with its payer and its day, and continues with each item, in the order of affiliates.
 * @param before empty at the first
 */
export function digestWith(run: Order, before: string, items: readonly Decision[]): string {
  return items.reduce(
    (digest, item) => hash('sha256', `${digest}\n${lineOf(item)}`, 'hex'),
    before || hash('sha256', textOf(run), 'hex'),
  )
}

/** Without a day, the hash is that of runs from before there was one. */
const textOf = ({ payer, execution_date: day }: Order) => (day === null ? payer : `${payer}\n${day}`)

/** Of the item as it was prepared, whatever has become of it. */
function lineOf({ affiliate_id, status, reason, amount, reference, digest }: Decision): string {
  const isOut = status === 'excluded' && reason !== 'cancelled'
  return [affiliate_id, isOut ? reason : '', amount, reference, digest].join()
}

/** Of an erased payee only the digest is left, and no file pays them. */
export const isErased = ({ payee_account }: Pick<Item, 'payee_account'>) => payee_account === ''

/** Whether an item names the payee of its digest. */
function isPayeeSame(item: Item): boolean {
  const [paidFor = '', payee] = item.digest.split(SEPARATOR)
  return isErased(item) || payee === payeeDigest(paidFor, item)
}

/**
 * Compares the hash of a run that is prepared with its payer, its day and its items.
 * @param pages all items of the run, in the order of affiliates
 * @returns what was changed beside the service; undefined for nothing
 */
export async function changedBeside(
  run: Order & Pick<Run, 'hash'>,
  pages: AsyncIterable<readonly Item[]>,
): Promise<{ readonly item?: Item } | undefined> {
  let digest = ''
  for await (const items of pages) {
    const changed = items.find(item => !isPayeeSame(item))
    if (changed) return { item: changed }
    digest = digestWith(run, digest, items)
  }
  return (digest || digestWith(run, '', [])) === run.hash ? undefined : {}
}
