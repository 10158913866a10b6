import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { anyText } from '../../../test/any-text.ts'
import { BROWSER, describeService, openDatabase, operatorOf } from '../../../test/harness.ts'
import { DAY_SECONDS, now } from '../../base/time.ts'
import { changeSettings } from '../../settings/rules.ts'
import { readToken, rotateKeys } from './keys.ts'
import { keys } from './store.ts'
import { campaignOf, clickKey, MAX_TOKEN, newNonce, signClick, verifyClick } from './token.ts'

const fresh = (id: number) => clickKey(id, randomBytes(32).toString('base64url'))
const key = fresh(7)
const ours = (id: number) => (id === key.id ? key : undefined)
const click = {
  affiliateId: 42,
  linkId: 3,
  campaign: 'Frühling',
  time: 1_700_000_000,
  nonce: newNonce(1_700_000_000),
}
const token = signClick(click, key)

describe('click tokens', () => {
  test('say what was signed, in 200 characters that every form and header takes', () => {
    const number = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })
    const clicks = fc.record({
      affiliateId: number,
      linkId: number,
      campaign: anyText(150),
      time: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
      nonce: fc.integer({ min: 0, max: 2 ** 32 }).map(newNonce),
    })
    fc.assert(
      fc.property(clicks, said => {
        const text = signClick(said, key)
        assert.match(text, /^[\w-]+$/)
        assert.ok(text.length <= MAX_TOKEN)
        const campaign = campaignOf(said.campaign)
        assert.deepEqual(verifyClick(text, ours, 0), { click: { ...said, campaign } })
        assert.ok(said.campaign.toWellFormed().startsWith(campaign))
      }),
    )
  })

  test('that are cut anywhere are refused as cut', () => {
    for (let length = 2; length < token.length; length++) {
      const { click: said, refusal } = verifyClick(token.slice(0, length), ours, 0)
      assert.deepEqual([said, refusal], [undefined, 'cut'], `${length} characters`)
    }
  })

  test('in which any character is another, or one is added, are refused and say nothing', () => {
    for (let at = 0; at < token.length; at++) {
      for (const character of 'Aa0_-.') {
        if (token[at] === character) continue
        const altered = token.slice(0, at) + character + token.slice(at + 1)
        const { click: said, refusal } = verifyClick(altered, ours, 0)
        assert.ok(said === undefined && refusal !== undefined, altered)
        if (at > 20) assert.notEqual(refusal, 'old')
      }
    }
    for (const end of ['A', 'AAAA', '=', ' ', '\0']) {
      assert.deepEqual(verifyClick(token + end, ours, 0), { refusal: 'forged' }, JSON.stringify(end))
    }
  })

  test('of another service are foreign, and forged when they name a key of this one', () => {
    assert.deepEqual(verifyClick(signClick(click, fresh(8)), ours, 0), { refusal: 'foreign' })
    assert.deepEqual(verifyClick(signClick(click, fresh(7)), ours, 0), { refusal: 'forged' })
    for (const text of ['', 'hello', '42', '%00', 'é', token.slice(1)]) {
      assert.deepEqual(verifyClick(text, ours, 0), { refusal: 'foreign' }, text)
    }
  })

  test('from before the window are old, and say whose they were', () => {
    assert.deepEqual(verifyClick(token, ours, click.time), { click })
    assert.deepEqual(verifyClick(token, ours, click.time + 1), { click, refusal: 'old' })
  })

  test('any text is refused by name and never throws', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String()), text => {
        assert.ok(verifyClick(text, ours, 0).refusal !== undefined)
      }),
    )
  })
})

describeService('keys of click tokens', service => {
  const context = () => operatorOf(service().database)
  const read = (token: string, since = 0) => readToken(service().database.reader, token, since)
  const newest = async () => {
    const [row] = await keys(service().database.reader)
    return clickKey(row!.id, row!.secret)
  }

  test('visitors who come first, all at once - one key signs for all', async () => {
    await changeSettings(context(), { programme_page: 'https://shop.example/' })
    const { id } = await service().newAffiliate('first', { status: 'active' })
    const headers = { 'user-agent': BROWSER }
    const come = () => fetch(`${service().url}/r/${id}`, { redirect: 'manual', headers })
    const answers = await Promise.all(Array.from({ length: 20 }, come))
    for (const answer of answers) {
      const token = URL.parse(answer.headers.get('location')!)!.searchParams.get('aff_click')!
      assert.equal((await read(token)).click?.affiliateId, id)
    }
    assert.equal((await keys(service().database.reader)).length, 1)
  })

  test('a token outlives the change of keys, until those before are taken back', async () => {
    await rotateKeys(context())
    const first = await newest()
    const token = signClick(click, first)
    await rotateKeys(context())
    assert.equal((await newest()).id, first.id)
    assert.deepEqual(await read(token), { click })
    await rotateKeys(context(), { anew: true })
    assert.equal((await keys(service().database.reader)).length, 2)
    assert.deepEqual(await read(token), { click })
    assert.deepEqual(await read(token, click.time + 1), { click, refusal: 'old' })
    await rotateKeys(context(), { alone: true })
    assert.deepEqual(await read(token), { refusal: 'foreign' })
    const last = signClick(click, await newest())
    assert.deepEqual(await read(last), { click })
    const events = await service()
      .database.reader.selectFrom('events')
      .select('action')
      .where('action', 'like', 'click_key.%')
      .orderBy('id')
      .execute()
    assert.deepEqual(
      events.map(({ action }) => action),
      ['click_key.create', 'click_key.create', 'click_key.delete', 'click_key.delete', 'click_key.create'],
    )
  })

  test('a key signs for 90 days, and what it has signed is read until the longest window is over', async () => {
    await rotateKeys(context(), { alone: true })
    const first = await newest()
    const token = signClick(click, first)
    const rotatedAfter = async (days: number) => {
      const created_at = now() - days * DAY_SECONDS
      await service().database.transaction(tx =>
        tx.updateTable('click_keys').set({ created_at }).where('id', '=', first.id).execute(),
      )
      await rotateKeys(context())
    }
    await rotatedAfter(89)
    assert.equal((await newest()).id, first.id)
    await rotatedAfter(90)
    const next = await newest()
    assert.notEqual(next.id, first.id)
    await rotatedAfter(90 + 399)
    assert.deepEqual(await read(token), { click })
    await rotatedAfter(90 + 400)
    assert.deepEqual(await read(token), { refusal: 'foreign' })
    assert.equal((await newest()).id, next.id)
  })
})

describeService('the first moment of several processes', service => {
  test('makes one key', async t => {
    const { databaseUrl } = service()
    const processes = await Promise.all(Array.from({ length: 4 }, () => openDatabase(databaseUrl)))
    t.after(() => Promise.all(processes.map(database => database.close())))
    await Promise.all(processes.map(database => rotateKeys(operatorOf(database))))
    assert.equal((await keys(service().database.reader)).length, 1)
  })
})
