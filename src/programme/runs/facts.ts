/** Gathers the facts about affiliates that a run depends on. */
import { createHash, type Hash } from 'node:crypto'
import type { Settings } from '../../base/settings.ts'
import type { Db } from '../../storage/database.ts'
import { isCorrection } from '../referrals/types.ts'
import { payeesOf } from './payees.ts'
import { nobody, nothing, type OwedSum, type Proposal, proposalOf } from './proposal.ts'
import type { Run } from './run.ts'
import { eachOwed, otherBalancesOf } from './store.ts'

interface Sum {
  amount: bigint
  count: number
  later?: bigint
  readonly hash: Hash
}

interface Gathered {
  readonly proposals: readonly Proposal[]
  /** The referrals of payees, by affiliate; only where they are locked. */
  readonly referrals: ReadonlyMap<number, readonly number[]>
}

type Terms = Pick<Run, 'id' | 'reference' | 'method' | 'cut_off' | 'group_id' | 'minimum' | 'left_out'>

/**
 * The present facts about affiliates.
 * @param isLocking locks what they are owed until the transaction ends
 */
export async function propose(
  db: Db,
  run: Terms,
  ids: readonly number[],
  settings: Settings,
  isLocking = false,
): Promise<Gathered> {
  const referrals = new Map<number, number[]>()
  if (ids.length === 0) return { proposals: [], referrals }
  const sums = await sumsOf(db, run.cut_off, ids, isLocking ? referrals : undefined)
  const others = Map.groupBy(await otherBalancesOf(db, ids), row => row.affiliate_id)
  const payables = await payeesOf(db, run, ids, settings)
  const proposals = ids.map(id => {
    const payable = payables.get(id)
    const amountIn = (account: 'pending' | 'external') =>
      BigInt(others.get(id)?.find(row => row.account === account)?.amount ?? 0)
    const facts = {
      affiliateId: id,
      status: payable?.status,
      groupId: payable?.groupId ?? null,
      owed: owedOf(sums.get(id)),
      waiting: amountIn('pending') !== 0n,
      paidBeside: amountIn('external') < 0n ? -amountIn('external') : 0n,
      payee: payable?.payee ?? nobody,
    }
    return proposalOf(run, facts, settings)
  })
  return { proposals, referrals }
}

/**
 * Refunds and write-offs count whatever their date: earnings from before the cut-off are not paid while more was taken back
 * since, and are once that was given back.
 */
async function sumsOf(
  db: Db,
  cutOff: number | null,
  ids: readonly number[],
  referrals: Map<number, number[]> | undefined,
): Promise<Map<number, Sum>> {
  const sums = new Map<number, Sum>()
  for await (const rows of eachOwed(db, ids, referrals !== undefined)) {
    for (const row of rows) {
      let sum = sums.get(row.affiliate_id)
      if (!sum) {
        sum = { amount: 0n, count: 0, hash: createHash('sha256') }
        sums.set(row.affiliate_id, sum)
        referrals?.set(row.affiliate_id, [])
      }
      if (cutOff !== null && row.created_at > cutOff && !isCorrection(row.type)) {
        sum.later = (sum.later ?? 0n) + BigInt(row.amount)
        continue
      }
      sum.amount += BigInt(row.amount)
      sum.count += 1
      sum.hash.update(`${row.id}:${row.amount};`)
      referrals?.get(row.affiliate_id)?.push(row.id)
    }
  }
  return sums
}

function owedOf(sum: Sum | undefined): OwedSum {
  if (!sum) return nothing
  const { amount, count, later, hash } = sum
  return { amount, count, later, digest: hash.digest('base64url') }
}
