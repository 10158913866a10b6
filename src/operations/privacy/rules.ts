/** What a person may ask for: everything that is kept about them, and that it be removed. */

import { recordOf as keyRecordOf, revoke } from '../../accounts/keys/rules.ts'
import { orders as keyOrders, listKeys } from '../../accounts/keys/store.ts'
import { devicesOf, endSessions } from '../../accounts/sessions/store.ts'
import {
  forgetBrowsers,
  refuseLastAdministrator,
  recordOf as userRecordOf,
} from '../../accounts/users/rules.ts'
import { findUser, findUserRow, loginExists, type User, updateUser } from '../../accounts/users/store.ts'
import { Failure } from '../../base/errors.ts'
import { foldCase } from '../../base/text.ts'
import { formatTime, now } from '../../base/time.ts'
import { orders as entryOrders, erasePersonal, listEntries } from '../../events/store.ts'
import { type RequestContext, write } from '../../events/write.ts'
import { recordOf as affiliateRecordOf } from '../../programme/affiliates/rules.ts'
import { updateAffiliate } from '../../programme/affiliates/store.ts'
import { recordOf as payoutRecordOf } from '../../programme/payouts/rules.ts'
import { loadSettings } from '../../settings/rules.ts'
import type { Database, Db } from '../../storage/database.ts'
import { recordOf as entryRecordOf } from '../audit/rules.ts'
import * as store from './store.ts'

const all = { descending: false, offset: 0, limit: Number.MAX_SAFE_INTEGER }

/** Everything that is kept about a person and what they did, but nothing secret. */
export async function exportPerson({ reader }: Database, userId: number) {
  const settings = await loadSettings(reader)
  const user = await findUserRow(reader, userId)
  if (!user) throw new Failure('no_user')
  const affiliate = await store.affiliateOf(reader, userId)
  const payouts = await store.payoutsTo(reader, await store.affiliateIdsOf(reader, userId))
  const keys = await listKeys(reader, { userIds: [userId] }, { ...all, order: keyOrders.id! })
  const sessions = await store.sessionsOf(reader, userId)
  const devices = await devicesOf(reader, userId)
  const entries = await listEntries(reader, { personId: userId }, { ...all, order: entryOrders.id! })
  return {
    account: userRecordOf(user),
    affiliate: affiliate ? { ...affiliateRecordOf(affiliate, settings), notes: affiliate.notes } : null,
    payouts: payouts.map(payout => payoutRecordOf(payout, settings)),
    keys: keys.map(keyRecordOf),
    sessions: sessions.map(spanOf),
    devices: devices.map(spanOf),
    audit: entries.map(entryRecordOf),
  }
}

const spanOf = ({ created_at, expires_at }: { created_at: number; expires_at: number }) => ({
  created: formatTime(created_at),
  expires: formatTime(expires_at),
})

/**
 * Replaces what is personal by what is not, here and in the audit log, ends the account's sessions and revokes its
 * keys. Affiliate and payouts stay: they are about money.
 * @throws Failure no_user, last_administrator
 */
export async function erasePerson(context: RequestContext, userId: number): Promise<User> {
  return write(context, async tx => {
    const user = await findUser(tx, userId)
    if (!user) throw new Failure('no_user')
    await refuseLastAdministrator(tx, user)
    const login = await freeName(tx, userId)
    const email = `${login}@erased.invalid`
    await updateUser(tx, userId, {
      login,
      login_key: foldCase(login),
      email,
      email_key: foldCase(email),
      first_name: '',
      last_name: '',
      display_name: login,
      display_name_key: foldCase(login),
      role: '',
      password_hash: '',
      updated_at: now(),
    })
    const affiliate = await store.affiliateOf(tx, userId)
    if (affiliate) {
      const nothing = { payment_email: '', payment_email_key: '', notes: '' }
      await updateAffiliate(tx, affiliate.id, { ...nothing, updated_at: now() })
    }
    await endSessions(tx, userId)
    await forgetBrowsers(tx, user)
    await store.removeKeptAnswers(tx, userId)
    const keys = await listKeys(tx, { userIds: [userId] }, { ...all, order: keyOrders.id! })
    for (const key of keys.filter(({ revoked_at }) => revoked_at === null)) await revoke(tx, key)
    await erasePersonal(tx, userId)
    tx.log('user.erase', userId)
    return (await findUser(tx, userId))!
  })
}

/** Somebody may have taken the plain one. */
async function freeName(db: Db, userId: number): Promise<string> {
  for (let name = `erased-${userId}`; ; name += '-x')
    if (!(await loginExists(db, foldCase(name)))) return name
}
