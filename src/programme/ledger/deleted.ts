/** Deleted affiliates who are owed: to delete one deletes nothing that was earned. */

import { reachable } from '../../accounts/users/erased.ts'
import { nameOf } from '../../accounts/users/rules.ts'
import { findUsers } from '../../accounts/users/store.ts'
import { exactNumber } from '../../base/money.ts'
import { deletedAmong } from '../../events/read.ts'
import type { Context } from '../../events/write.ts'
import type { Db } from '../../storage/database.ts'
import { type Account, owedAccounts } from './holdings.ts'
import * as store from './store.ts'

/** Keeps the answer to a page that people can read. */
const MOST_DELETED = 500

/** Deleted affiliates who are still owed something, or for whom something is still pending. */
export async function listDeletedButOwed(context: Context) {
  const { decimals } = await context.settings.current()
  const owing: readonly Account[] = ['pending', ...owedAccounts]
  const rows = await store.balancesOfDeleted(context.database.replica, owing, MOST_DELETED * owing.length)
  const byAffiliate = Map.groupBy(rows, row => row.affiliate_id)
  const sum = (of: typeof rows, accounts: readonly Account[]) =>
    exactNumber(
      of.reduce(
        (total, { account, amount }) => (accounts.includes(account) ? total + BigInt(amount) : total),
        0n,
      ),
      decimals,
    )
  const payees = await payeesOf(context.database.replica, [...byAffiliate.keys()])
  return [...byAffiliate].slice(0, MOST_DELETED).map(([affiliate_id, of]) => ({
    affiliate_id,
    ...(payees.get(affiliate_id) ?? { name: '', payment_email: '' }),
    owed: sum(of, owedAccounts),
    pending: sum(of, ['pending']),
  }))
}

/** Who some deleted affiliates were, and where they were paid, as the log and their accounts still know. */
async function payeesOf(db: Db, ids: readonly number[]) {
  const deleted = await deletedAmong(db, 'affiliate', ids)
  const accountIds = [...deleted.values()].flatMap(({ personId }) => personId ?? [])
  const accounts = new Map((await findUsers(db, accountIds)).map(account => [account.id, account]))
  return new Map(
    [...deleted].map(([id, { values, personId }]) => {
      const account = personId === null ? undefined : accounts.get(personId)
      return [
        id,
        {
          name: account ? nameOf(account) : '',
          payment_email: String(values.payment_email ?? '') || reachable(account?.email ?? ''),
        },
      ]
    }),
  )
}
