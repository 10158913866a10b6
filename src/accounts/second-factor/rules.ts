/** The user's own second factor. Someone who finds an open session must not be able to set or remove it. */
import { Failure, invalidArguments } from '../../base/errors.ts'
import { formatTime, now } from '../../base/time.ts'
import { type RequestContext, type WriteTx, write } from '../../events/write.ts'
import { countAttempt, ofCodes, unlessRefused } from '../sessions/attempts.ts'
import { confirmPassword, refuseEnded } from '../sessions/rules.ts'
import { endSessions, removeAttempt, removeDevices } from '../sessions/store.ts'
import { lockUser } from '../users/store.ts'
import { newRecoveryCodes, newSecret, sealedFactor, takeCode } from './codes.ts'
import type { CodeArguments, FactorRecord, PasswordArguments } from './schema.ts'
import * as store from './store.ts'

export async function stateOf({ database, actor }: RequestContext): Promise<FactorRecord> {
  const factor = await store.findFactor(database.reader, actor.userId)
  const since = factor?.confirmed_at ?? null
  return {
    active: since !== null,
    since: since === null ? null : formatTime(since),
    recovery_codes: await store.countRecoveryCodes(database.reader, actor.userId),
  }
}

/**
 * Creates the secret for the app. Log-in does not require it until a first code has confirmed it.
 * @throws Failure invalid_argument, too_many_requests, second_factor_active, secret_key
 */
export async function begin(
  context: RequestContext,
  args: PasswordArguments,
): Promise<{ secret: string; uri: string }> {
  const user = await confirmPassword(context, args.current_password)
  const { secret, uri } = newSecret(user.login)
  await write(context, async tx => {
    await context.settings.lock(tx)
    await refuseEnded(tx, context.actor)
    const before = await store.lockFactor(tx, user.id)
    if (before && before.confirmed_at !== null) throw new Failure('second_factor_active')
    await store.putFactor(tx, {
      user_id: user.id,
      secret: sealedFactor(user.id, secret),
      last_step: 0,
      created_at: now(),
      confirmed_at: null,
    })
  })
  return { secret, uri }
}

/**
 * From now on log-in requires a code. Ends the account's other sessions, which began without one.
 * @returns recovery codes, which are never shown again
 * @throws Failure invalid_argument, too_many_requests, no_second_factor, second_factor_active
 */
export async function confirm(context: RequestContext, { code }: CodeArguments): Promise<string[]> {
  const { database, actor } = context
  const attempt = await countAttempt(database, ofCodes(actor.userId))
  const confirming = async (tx: WriteTx) => {
    // A log-in locks the account too: if it comes first, its session ends here; if not, it is asked for a code.
    await lockUser(tx, actor.userId)
    await refuseEnded(tx, actor)
    const factor = await store.lockFactor(tx, actor.userId)
    if (!factor) throw new Failure('no_second_factor')
    if (factor.confirmed_at !== null) throw new Failure('second_factor_active')
    if (!(await takeCode(tx, actor.userId, code))) throw wrongCode()
    await removeAttempt(tx, attempt)
    await store.setConfirmed(tx, actor.userId, now())
    await endSessions(tx, actor.userId, actor.session)
    // Browsers known from now on are those that logged in with a code.
    await removeDevices(tx, actor.userId)
    tx.log('user.second_factor', actor.userId)
    return replaceCodes(tx, actor.userId)
  }
  return unlessRefused(attempt, () => write(context, confirming))
}

/**
 * Replaces the recovery codes.
 * @throws Failure invalid_argument, too_many_requests, no_second_factor
 */
export async function renewCodes(context: RequestContext, args: PasswordArguments): Promise<string[]> {
  const user = await confirmPassword(context, args.current_password)
  return write(context, async tx => {
    await refuseEnded(tx, context.actor)
    const factor = await store.lockFactor(tx, user.id)
    if (!factor || factor.confirmed_at === null) throw new Failure('no_second_factor')
    tx.log('user.recovery_codes', user.id)
    return replaceCodes(tx, user.id)
  })
}

async function replaceCodes(tx: WriteTx, userId: number): Promise<string[]> {
  const { codes, hashes } = newRecoveryCodes()
  await store.putRecoveryCodes(tx, userId, hashes)
  return codes
}

/** @throws Failure invalid_argument, too_many_requests */
export async function end(context: RequestContext, args: PasswordArguments): Promise<void> {
  const user = await confirmPassword(context, args.current_password)
  await write(context, async tx => {
    await refuseEnded(tx, context.actor)
    await remove(tx, user.id)
  })
}

/**
 * Removes the second factor of an account whose owner has lost the app and the recovery codes.
 * @throws Failure no_user, invalid_argument
 */
export async function reset(context: RequestContext, userId: number): Promise<void> {
  if (context.actor.kind === 'session' && context.actor.userId === userId) {
    throw invalidArguments({ user_id: 'is your own account: remove your second factor under Your account.' })
  }
  await write(context, async tx => {
    if (!(await lockUser(tx, userId))) throw new Failure('no_user')
    await remove(tx, userId)
  })
}

async function remove(tx: WriteTx, userId: number): Promise<void> {
  if (!(await store.lockFactor(tx, userId))) return
  await store.removeFactor(tx, userId)
  tx.log('user.no_second_factor', userId)
}

const wrongCode = () =>
  invalidArguments({
    code: 'is not what the app shows at this moment. A code is taken once: wait for the next one.',
  })
