/** The keys of click tokens: which one signs, when it is replaced, and what a token says. */
import { randomBytes, randomInt } from 'node:crypto'
import { DAY_SECONDS, now } from '../../base/time.ts'
import { type RequestContext, write } from '../../events/write.ts'
import type { Db } from '../../storage/database.ts'
import * as store from './store.ts'
import { type ClickKey, clickKey, type VerifiedToken, verifyClick } from './token.ts'

const SIGNS_DAYS = 90
/** Longer than the longest window after the last signature: a token expires before its key is removed. */
const STAYS_DAYS = SIGNS_DAYS + 400

/** The keys of the service, the newest first. */
async function readKeys(db: Db): Promise<ClickKey[]> {
  return (await store.keys(db)).map(({ id, secret }) => clickKey(id, secret))
}

/** The key that signs; undefined before the first is made. */
export async function currentKey(db: Db): Promise<ClickKey | undefined> {
  return (await readKeys(db))[0]
}

/**
 * The content of a click token, or why it credits nobody.
 * @param since the first second of the window
 */
export async function readToken(db: Db, token: string, since: number): Promise<VerifiedToken> {
  const keys = await readKeys(db)
  return verifyClick(token, id => keys.find(key => key.id === id), since)
}

/**
 * Creates the first key, and the next one when the newest has signed for 90 days; removes keys whose tokens have all expired.
 * @param options.anew creates one in any case
 * @param options.alone removes all others: tokens that they have signed are foreign from now on
 */
export async function rotateKeys(
  context: RequestContext,
  { anew = false, alone = false }: { readonly anew?: boolean; readonly alone?: boolean } = {},
): Promise<void> {
  const time = now()
  const isDue = ([newest]: readonly store.KeyRow[]) => anew || alone || !isYounger(newest, SIGNS_DAYS, time)
  const isOver = (key: store.KeyRow) => alone || !isYounger(key, STAYS_DAYS, time)
  const { engine, reader } = context.database
  const before = await store.keys(reader)
  if (!isDue(before) && !before.some(isOver)) return
  await write(context, async tx => {
    // Another process may have made the next one meanwhile, or be about to.
    await engine.lock(tx, 'settings', 'alone')
    const keys = await store.keys(tx)
    const removedKeys = keys.filter(isOver)
    if (removedKeys.length > 0) {
      await store.removeKeys(
        tx,
        removedKeys.map(({ id }) => id),
      )
      for (const { id } of removedKeys) tx.log('click_key.delete', id)
    }
    if (!isDue(keys)) return
    const id = randomInt(1, 2 ** 32)
    await store.insertKey(tx, { id, secret: randomBytes(32).toString('base64url'), created_at: time })
    tx.log('click_key.create', id)
  })
}

function isYounger(key: store.KeyRow | undefined, days: number, time: number): boolean {
  return key !== undefined && key.created_at > time - days * DAY_SECONDS
}
