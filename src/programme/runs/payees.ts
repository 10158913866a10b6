/** Checks whether a payee can be paid, and where to, by the method of the run. */
import { reachable } from '../../accounts/users/erased.ts'
import type { Settings } from '../../base/settings.ts'
import { DAY_SECONDS, formatTime, now } from '../../base/time.ts'
import type { Db } from '../../storage/database.ts'
import { type AffiliateRow, findAffiliates } from '../affiliates/store.ts'
import type { PaymentDetail } from '../details/details.ts'
import { isGivenUp } from '../details/rules.ts'
import { addressesChanged, currentOf } from '../details/store.ts'
import { isFormula } from './formats/format.ts'
import { formatOf } from './formats/formats.ts'
import { excludedFor, nobody, type Payee } from './proposal.ts'
import type { Run } from './run.ts'

export interface Payable {
  readonly status: AffiliateRow['status']
  readonly groupId: AffiliateRow['group_id']
  readonly payee: Payee
}

type Problem = NonNullable<Payee['problem']>

/** Those of the affiliates that exist, as the run would pay them. */
export async function payeesOf(
  db: Db,
  { method }: Pick<Run, 'method'>,
  ids: readonly number[],
  { payouts: { detailsDays } }: Settings,
): Promise<Map<number, Payable>> {
  const rows = await findAffiliates(db, ids)
  const details = method === 'csv' ? [] : await currentOf(db, ids, method)
  const byAffiliate = new Map(details.map(row => [row.affiliate_id, row]))
  const addressChanges = await addressesChanged(db, ids)
  const usableFrom = (row: AffiliateRow) => {
    const ofAccount = row.payment_email === '' ? row.account_email_changed_at! : 0
    const changedAt = Math.max(addressChanges.get(row.id) ?? 0, ofAccount)
    return byAffiliate.get(row.id)?.usable_from ?? changedAt + detailsDays * DAY_SECONDS
  }
  return new Map(
    rows.map(row => [
      row.id,
      {
        status: row.status,
        groupId: row.group_id,
        payee: payeeOf(method, row, byAffiliate.get(row.id), usableFrom(row)),
      },
    ]),
  )
}

function payeeOf(
  method: Run['method'],
  row: AffiliateRow,
  details: PaymentDetail | undefined,
  usableFrom: number,
): Payee {
  // An address in their place would not be where the affiliate wants to be paid.
  if (details && isGivenUp(details)) return { ...nobody, problem: excludedFor('no_payment_details') }
  const name = details?.holder || row.account_display_name || row.account_login!
  const account = details?.account ?? addressOf(method, row)
  const problem = problemOf(method, name, account, usableFrom)
  return { name, account, detailsId: details?.id ?? 0, ...(problem && { problem }) }
}

/** PayPal can use the payment address of an affiliate where no other was entered; bank accounts have to be entered. */
function addressOf(method: Run['method'], row: AffiliateRow): string {
  if (method === 'csv') return row.payment_email || reachable(row.account_email ?? '')
  return method === 'paypal' ? row.payment_email : ''
}

function problemOf(
  method: Run['method'],
  name: string,
  account: string,
  usableFrom: number,
): Problem | undefined {
  if (account === '') return excludedFor('no_payment_details')
  if (usableFrom > now()) {
    return {
      reason: 'details_too_new',
      note: `The payment details are new: they are used from ${formatTime(usableFrom)} UTC on.`,
    }
  }
  if (isFormula(name) || isFormula(account)) {
    return {
      reason: 'unfit_details',
      note: 'A spreadsheet would take the name or the account for a formula.',
    }
  }
  const { problemOfName, problemOfAccount } = formatOf(method)
  const note = problemOfName?.(name) ?? problemOfAccount?.(account)
  return note === undefined ? undefined : { reason: 'unfit_details', note }
}
