import { Alert, Typography } from '@mui/material'
import { type GetListParams, useDataProvider, useRecordContext } from 'react-admin'
import { useWatch } from 'react-hook-form'
import { ChangedMeanwhile } from '../ledger/ChangedMeanwhile.tsx'
import { useOwedWith } from '../ledger/owed.ts'
import type { Referral } from '../referrals/referral.ts'
import { type Money, useMoney } from '../ui/format.ts'
import { payouts } from './pages.ts'
import type { Payout } from './payout.ts'
import { amountOf, numbersIn, sumOf, unitsOf } from './sum.ts'
import { paidBy, unpaidOf } from './UnpaidReferrals.tsx'

/**
 * Effect of an unsaved payout, or of unsaved changes of one, on the balance: the referrals it pays lower it, its amount does
 * not.
 */
export function OwedAfterPayout() {
  const { affiliate_id = 0, status, ...typed }: Partial<Payout> = useWatch()
  const { decimals } = useMoney()
  const read = useRead(affiliate_id)
  if (!read) return null
  const units = unitsOf(typed.amount ?? '', decimals)
  // An amount that is none is no change yet.
  const amount = units === undefined ? {} : { amount: Number(typed.amount) }
  const decided = { affiliate_id, status, referrals: numbersIn(typed.referrals).join(), ...amount }
  const changed = read.changedIn(decided)
  const saved = read.savedOf(decided)
  const isOfOther = saved.affiliate_id !== affiliate_id
  const changesNothing = read.now ? Object.keys(changed).length === 0 : status !== 'paid'
  return (
    <>
      <ChangedMeanwhile differences={read.differences} changed={changed} />
      {units !== undefined && !isOfOther && !changesNothing && <Effect saved={saved} read={read} />}
    </>
  )
}

/** What is owed, the payout, and which referrals it can pay: those that it has paid, and those that are unpaid. */
function useRead(affiliateId: number) {
  const dataProvider = useDataProvider()
  const id = useRecordContext<Payout>()?.id
  const list = async (args: GetListParams) => (await dataProvider.getList<Referral>('referrals', args)).data
  return useOwedWith<Payout, [own: Referral[], unpaid: Referral[]]>(payouts, affiliateId, async () => {
    const [paid, unpaid] = await Promise.all([id ? list(paidBy(id)) : [], list(unpaidOf(affiliateId))])
    return [paid.filter(referral => referral.affiliate_id === affiliateId), unpaid]
  })
}

type Saved = Partial<Pick<Payout, 'amount' | 'status' | 'referrals'>>

function Effect({ saved, read }: { saved: Saved; read: NonNullable<ReturnType<typeof useRead>> }) {
  const money = useMoney()
  const [own = [], unpaid = []] = read.further ?? []
  // But for the payout.
  const owed = read.owed + unitsOf(sumOf(own), money.decimals)!
  const isFailed = saved.status !== 'paid'
  const numbers = isFailed ? [] : numbersIn(saved.referrals)
  const paid = [...own, ...unpaid].filter(({ id }) => numbers.includes(id))
  const sum = unitsOf(sumOf(paid), money.decimals)!
  const stays = `Owed after it: ${money.full(amountOf(owed - sum, money.decimals))}.`
  const amount = unitsOf(saved.amount ?? '', money.decimals)!
  const { reserved } = read
  const effect = { amount, owed, reserved, sum, named: numbers.length, known: paid.length }
  const warnings = isFailed ? [] : warningsOf(effect, read.now ? ofStored : ofNew, money)
  if (warnings.length === 0) {
    return (
      <Typography role="status" variant="body2">
        {stays}
      </Typography>
    )
  }
  return (
    <Alert severity="warning" role="status">
      {warnings.join(' ')} {stays}
    </Alert>
  )
}

/** What the form calls the referrals that it pays. */
const ofNew = {
  none: 'No referral is ticked',
  all: 'the referrals that are ticked, which all become paid',
  unknown: 'Referrals that are not listed above are named',
}
const ofStored = {
  none: 'No referral is named',
  all: 'the referrals that are named, which are all paid by it',
  unknown: 'Referrals are named that are not known as unpaid ones of this affiliate',
}

interface Effect {
  amount: bigint
  owed: bigint
  /** What an approved payout run pays of it. */
  reserved: bigint
  /** Sum of the referrals that it pays. */
  sum: bigint
  /** Referral numbers in the form, and how many of them are unpaid referrals. */
  named: number
  known: number
}

function warningsOf(
  { amount, owed, reserved, sum, named, known }: Effect,
  words: typeof ofNew,
  money: Money,
): string[] {
  const text = (units: bigint) => money.full(amountOf(units, money.decimals))
  const warnings: string[] = []
  if (named === 0 && owed > 0n) {
    const later =
      reserved > 0n ? `an approved payout run pays ${text(reserved)} of it` : 'it can be paid again'
    warnings.push(`${words.none}: ${text(owed)} stays owed, and ${later}.`)
  }
  if (amount > 0n && amount > owed)
    warnings.push(`${text(amount)} is more than the ${text(owed)} that is owed.`)
  if (named > 0 && named === known && amount !== sum) {
    const difference = text(amount > sum ? amount - sum : sum - amount)
    warnings.push(differenceText(amount > sum, difference, words.all))
  }
  if (known < named) {
    warnings.push(`${words.unknown}: the amount is not compared with theirs.`)
  }
  return warnings
}

/** A difference stays where it is in the ledger: nothing pays it later, and nothing is set against it. */
function differenceText(isMore: boolean, difference: string, all: string): string {
  return isMore
    ? `The amount is ${difference} more than ${all}: no later payout is lower for it.`
    : `The amount is ${difference} less than ${all}: no later payout pays the ${difference}.`
}
