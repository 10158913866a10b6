/** How much a person can waive of what refunds and disputes have taken back. Pure. */
import { Failure } from '../../base/errors.ts'
import { type Fraction, fraction, ONE, ZERO } from '../../base/fraction.ts'
import { mostOf, owedOf, waivedOf, withoutWaived } from '../commission/amounts.ts'
import { type Calculation, coveredOf, type Waiver } from '../commission/calculation.ts'
import { waivedBy } from '../commission/decisions.ts'
import { disputed, isOver, isTotalOfDisputes, leftOf } from '../conversions/left.ts'
import type { PaymentReport } from '../conversions/reversals-store.ts'
import { reversalsIn, saleOf } from '../conversions/sold.ts'
import type { Referral } from './referral.ts'

type Reports = readonly PaymentReport[]

/**
 * Refuses to reinstate the refund of a dispute that was won: it takes nothing back any more.
 * @throws Failure referral_conflict
 */
export function refuseWon(refund: Referral, reports: Reports): void {
  const { dispute, reversals } = disputeOf(refund, reports)
  if (dispute && isOver(dispute, reversals)) throw wasWon(refund)
}

/** The report that the dispute of a refund was won; undefined if it was not, or if totals say how much is disputed. */
export function winOf(refund: Referral, reports: Reports): number | undefined {
  const { dispute, reversals } = disputeOf(refund, reports)
  if (!dispute || isTotalOfDisputes(dispute) || !isOver(dispute, reversals)) return undefined
  return reversals.find(({ kind, part }) => kind === 'dispute_won' && part === dispute.part)?.id
}

function disputeOf({ conversion_id }: Referral, reports: Reports) {
  const sale = saleOf(reports)
  const reversals = sale ? reversalsIn(reports, sale) : []
  return { dispute: reversals.find(({ id, kind }) => id === conversion_id && kind === 'dispute'), reversals }
}

/** Whether a referral gives back what a dispute took that was won. */
const isOfWin = ({ conversion_id, amount }: Referral, reports: Reports): boolean =>
  amount > 0 && reports.some(({ id, kind }) => id === conversion_id && kind === 'dispute_won')

const wasWon = ({ parent_id }: Referral) =>
  new Failure('referral_conflict', {
    message: `The dispute that it follows from was won: it takes nothing of referral ${parent_id} back any more.`,
    data: { referral_id: parent_id },
  })

/**
 * Refuses to waive a refund whose amount was given back since, in another way: more would be owed than the sale can earn, or more
 * given back of disputes than they take.
 * @param before the calculation of the sale's referral
 * @param decision that the refund is waived
 * @throws Failure referral_conflict
 */
export function refuseTwice(refund: Referral, before: Calculation, decision: Waiver, reports: Reports): void {
  const { parent_id } = refund
  const calculation = waivedBy(before, decision)
  const [was, is, most] = [owedOf(before), owedOf(calculation), mostOf(calculation)]
  // A person may have rejected what a won dispute gave back; that can be given again.
  const owed = refund.amount > 0 && was !== undefined ? was + decision.amount : is
  if (owed !== undefined && most !== undefined && (owed > most || owed - was! < decision.amount)) {
    throw addsTooMuch(refund, `More than all of its sale earns would be owed with referral ${parent_id}`)
  }
  const won = winOf(refund, reports)
  if (won !== undefined && (waivedOf(calculation, won) ?? 0n) > 0n) throw wasWon(refund)
  if (isOfWin(refund, reports) && (waivedOf(calculation, refund.conversion_id) ?? 0n) > 0n) {
    throw addsTooMuch(refund, `More than its dispute took would be given back with referral ${parent_id}`)
  }
  if (disputeOf(refund, reports).dispute && isMoreThanDisputed(calculation, reports)) {
    throw addsTooMuch(
      refund,
      `Less is disputed of its sale than would be given back with referral ${parent_id}`,
    )
  }
}

const addsTooMuch = ({ parent_id }: Referral, why: string) =>
  new Failure('referral_conflict', {
    message: `${why}: reject or delete what adds to that first.`,
    data: { referral_id: parent_id },
  })

/**
 * Whether more was waived of disputes than is disputed. This can happen if a shop reports totals of disputes: a later total may have
 * given back what an earlier one took.
 */
function isMoreThanDisputed(calculation: Calculation, reports: Reports): boolean {
  const sale = saleOf(reports)
  if (!sale) return false
  const reversals = reversalsIn(reports, sale)
  const refunds = reversals.filter(({ kind }) => kind === 'refund')
  const waived = reversals
    .filter(({ kind }) => kind !== 'refund')
    .flatMap(({ id }) => waivedOf(calculation, id) ?? [])
  if (waived.length === 0) return false
  const worth = (left: Fraction) => withoutWaived(calculation, left) ?? 0n
  const paid = BigInt(sale.amount)
  const rest = paid - disputed(reversals)
  const alone = paid === 0n || rest < 0n ? ZERO : fraction(rest, paid)
  // What disputes take is measured in both orders: after the refunds, and before them.
  const most = [worth(leftOf(paid, refunds)) - worth(coveredOf(calculation)), worth(ONE) - worth(alone)]
  const sum = waived.reduce((all, amount) => all + amount)
  // Each amount was rounded by itself, so the sum may differ by one unit for each.
  return most.every(one => sum > one + BigInt(waived.length))
}
