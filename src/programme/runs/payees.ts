/** Who is paid by a run, and where to: what the method needs, and what is wrong with it. */
import type { Db } from '../../storage/database.ts'
import { type AffiliateRow, findAffiliates } from '../affiliates/store.ts'
import { isFormula } from './formats/format.ts'
import type { Reason } from './item.ts'
import type { Payee } from './proposal.ts'
import type { Run } from './run.ts'

export interface Payable {
  readonly status: AffiliateRow['status']
  readonly payee: Payee
}

/** The affiliates that there are of these, as the run would pay them. */
export async function payeesOf(
  db: Db,
  run: Pick<Run, 'method'>,
  ids: readonly number[],
): Promise<Map<number, Payable>> {
  const rows = await findAffiliates(db, ids)
  return new Map(rows.map(row => [row.id, { status: row.status, payee: payeeOf(run, row) }]))
}

function payeeOf({ method }: Pick<Run, 'method'>, row: AffiliateRow): Payee {
  const name = row.account_display_name || row.account_login!
  const account = accountOf(method, row)
  const problem = problemOf(name, account)
  return { name, account, detailsId: 0, ...(problem && { problem }) }
}

function accountOf(method: Run['method'], row: AffiliateRow): string {
  if (method === 'csv') return row.payment_email || row.account_email!
  return method === 'paypal' ? row.payment_email : ''
}

function problemOf(name: string, account: string): { reason: Reason; note: string } | undefined {
  if (account === '') return { reason: 'no_payment_details', note: '' }
  if (isFormula(name) || isFormula(account)) {
    return {
      reason: 'unfit_details',
      note: 'A spreadsheet would take the name or the account for a formula.',
    }
  }
  return undefined
}
