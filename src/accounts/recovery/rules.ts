/**
 * Password reset: whoever reads the mail of an account may set a new password, once, within an hour. The
 * answer is the same whether the account exists or not, and is sent before the look-up.
 * See docs/decisions/forgotten-passwords.md.
 */
import { Failure, refuseInvalid } from '../../base/errors.ts'
import { now } from '../../base/time.ts'
import { type RequestContext, write } from '../../events/write.ts'
import type { Tx } from '../../storage/database.ts'
import { countAttempt, ofForgotten, ofLetters } from '../sessions/attempts.ts'
import { hashToken, newToken } from '../tokens.ts'
import { hashPassword, passwordProblem } from '../users/password.ts'
import { findByName, forgetBrowsers, setPassword } from '../users/rules.ts'
import { lockUser, type User } from '../users/store.ts'
import type { Letter, Post } from './post.ts'
import type { NewPasswordArguments } from './schema.ts'
import * as store from './store.ts'

const LINK_SECONDS = 3600
/** With what else the service does at its end, less than it may take. */
const CLOSING_MS = 2000

/** Sends the mails in the background, after the answer. */
export class Recovery {
  readonly #post: Post
  readonly #failed: (error: unknown) => void
  readonly #underWay = new Set<Promise<void>>()

  /** @param failed called when a mail could not be sent */
  constructor(post: Post, failed: (error: unknown) => void) {
    this.#post = post
    this.#failed = failed
  }

  /**
   * Returns before the account is looked up, so that response times reveal nothing.
   * @throws Failure too_many_requests
   */
  async ask(context: RequestContext, name: string): Promise<void> {
    await countAttempt(context.database, ofForgotten(name, context.address))
    const sending = this.#sendTo(context, name)
      .catch(this.#failed)
      .finally(() => this.#underWay.delete(sending))
    this.#underWay.add(sending)
  }

  async #sendTo(context: RequestContext, name: string): Promise<void> {
    const { database, settings, actor, address } = context
    // Without the request's snapshot: the request is over by then, and its view of the database may be closed.
    const later = { database, settings, actor, address }
    for (const user of (await findByName(database.reader, name)).filter(({ role }) => role !== '')) {
      // Limits the mails per account, under whatever name they are requested.
      if (!(await mayGetLetter(later, user))) continue
      const link = await newLink(later, user)
      if (link !== undefined) await this.#post.send(letterTo(user, this.#post.publicUrl, link))
    }
  }

  /** Resolves when all requested mails are sent, or have failed, at the latest after some seconds. */
  async close(): Promise<void> {
    const giveUp = setTimeout(() => this.#post.abort(), CLOSING_MS)
    await Promise.all(this.#underWay)
    clearTimeout(giveUp)
    await this.#post.close()
  }
}

type Later = Pick<RequestContext, 'database' | 'actor' | 'address'>

async function mayGetLetter({ database }: Later, { id }: User): Promise<boolean> {
  try {
    await countAttempt(database, ofLetters(id))
    return true
  } catch (error) {
    if (error instanceof Failure && error.failure === 'too_many_requests') return false
    throw error
  }
}

/** @returns undefined if the account's address has just changed: the mail would go to the old one */
async function newLink(context: Later, user: User): Promise<string | undefined> {
  const token = newToken()
  const time = now()
  return write(context, async tx => {
    const current = await lockUser(tx, user.id)
    if (!current || current.role === '' || current.email !== user.email) return undefined
    await store.putRecovery(tx, {
      token_hash: hashToken(token),
      user_id: user.id,
      created_at: time,
      expires_at: time + LINK_SECONDS,
    })
    tx.log('user.forgotten', user.id)
    return token
  })
}

/** The token is in the URL fragment, which is never sent to a server. */
function letterTo({ email, login }: User, publicUrl: string, token: string): Letter {
  return {
    to: email,
    subject: 'New password for affiliated',
    text: [
      `Somebody, probably you, has asked for a new password for the account ${login}.`,
      'Set it here within the hour; the link works once:',
      `${publicUrl}/admin/new-password#${token}`,
      'If it was not you, do nothing: your password stays as it is.',
    ].join('\n\n'),
  }
}

/**
 * Sets the password and ends the account's sessions. A second factor is still required afterwards.
 * @throws Failure invalid_argument, recovery_ended
 */
export async function replacePassword(
  context: RequestContext,
  { token, new_password }: NewPasswordArguments,
): Promise<void> {
  const problem = await passwordProblem(new_password)
  refuseInvalid(problem ? { new_password: problem } : {})
  const tokenHash = hashToken(token)
  const time = now()
  // Made while the clock was far ahead, a link would work for as long as that in addition.
  const within = { time, madeBefore: time + LINK_SECONDS }
  const recovery = await store.findRecovery(context.database.reader, tokenHash, within)
  if (!recovery) throw new Failure('recovery_ended')
  const passwordHash = await hashPassword(new_password)
  await write(context, async tx => {
    const user = await lockUser(tx, recovery.user_id)
    if (!user || user.role === '' || !(await store.takeRecovery(tx, tokenHash))) {
      throw new Failure('recovery_ended')
    }
    await setPassword(tx, user.id, passwordHash)
    await forgetBrowsers(tx, user)
  })
}

/** @returns false: nothing is left to remove */
export async function removeOldRecoveries(tx: Tx): Promise<boolean> {
  await store.removeRecoveriesBefore(tx, now())
  return false
}
