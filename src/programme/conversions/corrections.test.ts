import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { sql } from 'kysely'
import { describeService, engines, operatorOf, serviceOn } from '../../../test/harness.ts'
import { until } from '../../../test/load.ts'
import type { Context, RequestContext } from '../../events/write.ts'
import type { Database } from '../../storage/database.ts'
import { rules as referrals } from '../referrals/rules.ts'
import { checks } from './check.ts'
import { create } from './rules.ts'

/** How many steps. LONG=1 tries longer sequences. */
const MOST = process.env.LONG ? 5 : 3

/** Of a sale of 100.00 that earns 20.00. */
const steps = {
  'refund a': { kind: 'refund', part: 'a', amount: 50 },
  'refund b': { kind: 'refund', part: 'b', amount: 50 },
  dispute: { kind: 'dispute', part: 'd', amount: 50 },
  won: { kind: 'dispute_won', part: 'd' },
  'set 8': { amount: 8 },
  'set 24': { amount: 24 },
  reopen: { status: 'unpaid' },
} as const
type Beginning = 'open' | 'paid'
type Step = keyof typeof steps

/** Each step at most once, in each order, where a dispute is won after it began. */
function* sequences(most: number, before: readonly Step[] = []): Generator<readonly Step[]> {
  yield before
  if (before.length === most) return
  for (const step of Object.keys(steps) as Step[]) {
    if (before.includes(step) || (step === 'won' && !before.includes('dispute'))) continue
    yield* sequences(most, [...before, step])
  }
}

/** Hundredths of the sale that are left. */
function leftAfter(done: readonly Step[]): number {
  const taken = ['refund a', 'refund b', done.includes('won') ? 'none' : 'dispute'] as const
  return Math.max(0, 100 - 50 * taken.filter(step => done.includes(step as Step)).length)
}

describeService('an amount that is set beside refunds', service => {
  let number = 0

  /** What a referral and those below it come to. */
  async function standing({ database }: Context, id: number): Promise<number> {
    const rows = await database.reader
      .selectFrom('referrals')
      .select(['status', 'amount'])
      .where(eb => eb.or([eb('id', '=', id), eb('parent_id', '=', id)]))
      .execute()
    return rows.filter(({ status }) => status !== 'rejected').reduce((sum, { amount }) => sum + amount, 0)
  }

  async function play(by: RequestContext & Context, begin: Beginning, done: readonly Step[]) {
    number += 1
    const names = { context: 'corrected', reference: `corrected-${number}` }
    const sale = { kind: 'sale' as const, ...names, affiliate_id: affiliateId, amount: 100 }
    const created = await create(by, sale)
    const id = created.referrals[0]!.id
    const edit = (change: object) => referrals.edit(by, { referral_id: id, ...change })
    if (begin === 'paid') await edit({ status: 'paid' })
    for (const step of done) {
      const does = steps[step]
      if ('kind' in does) await create(by, { ...names, ...does })
      else await edit(does)
    }
    return standing(by, id)
  }

  let affiliateId = 0
  before(async () => {
    const terms = { status: 'active', rate: 20, rate_type: 'percentage' }
    affiliateId = (await service().newAffiliate('set', terms)).id
  })

  /** Cents of what was earned or set last. */
  function worthOf(done: readonly Step[]): number {
    const set = done.findLast(step => step.startsWith('set'))
    if (set === undefined) return 2000
    return set === 'set 8' ? 800 : 2400
  }

  /** Whether an amount was set that refunds had lowered before: it may be of the whole sale or of the rest. */
  function isSetOfRest(begin: Beginning, done: readonly Step[]): boolean {
    const opened = begin === 'open' ? 0 : done.indexOf('reopen')
    if (opened < 0) return false
    const since = done.slice(opened)
    const taken = since.findIndex(step => 'kind' in steps[step])
    return taken >= 0 && since.slice(taken).some(step => step.startsWith('set'))
  }

  test('is that of the sale, of which they take their share: in any order', async () => {
    const by = operatorOf(service().database)
    const wrong: string[] = []
    for (const begin of ['open', 'paid'] as const) {
      for (const done of sequences(MOST)) {
        if (begin === 'open' && done.includes('reopen')) continue
        const left = leftAfter(done)
        const total = await play(by, begin, done)
        const most = done.includes('set 24') ? 2400 : 2000
        const right = (worthOf(done) * left) / 100
        const isRight = isSetOfRest(begin, done) && left > 0 ? total >= 0 && total <= most : total === right
        if (!isRight) wrong.push(`${[begin, ...done].join(', ')}: ${total} and not ${right}`)
      }
    }
    for await (const problem of checks[0]!(service().database.reader)) wrong.push(problem)
    assert.deepEqual(wrong, [])
  })

  test('at the moment at which a dispute is won - is that of the sale as well', async () => {
    const by = operatorOf(service().database)
    const totals = await Promise.all(
      Array.from({ length: 20 }, async (_, number) => {
        const names = { context: 'at once', reference: `at-once-${number}` }
        const sale = { kind: 'sale' as const, ...names, affiliate_id: affiliateId, amount: 100 }
        const { id } = (await create(by, sale)).referrals[0]!
        await referrals.edit(by, { referral_id: id, status: 'paid' })
        await create(by, { ...names, ...steps.dispute })
        await Promise.all([
          create(by, { ...names, ...steps.won }),
          referrals.edit(by, { referral_id: id, amount: 8 }),
        ])
        return standing(by, id)
      }),
    )
    assert.deepEqual([...new Set(totals)], [800])
  })
})

/** How many transactions wait for a lock of another one. */
async function waitingOn({ reader }: Database): Promise<number> {
  const { rows } = await sql`SELECT DISTINCT pid FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE NOT granted AND datname = current_database()`.execute(reader)
  return rows.length
}

test('a refund that is edited or deleted while the amount of its sale is - waits for that, and not that for it (PostgreSQL)', async t => {
  const service = await serviceOn(await engines.PostgreSQL!())
  t.after(() => service.close())
  const { database } = service
  const by = operatorOf(database)
  const { id: affiliate_id } = await service.newAffiliate('set', { status: 'active' })
  const names = { context: 'shop', reference: '1' }
  const { id } = (await create(by, { kind: 'sale', ...names, affiliate_id, amount: 100 })).referrals[0]!
  await referrals.edit(by, { referral_id: id, status: 'paid' })
  const changes = [
    (referral_id: number) => referrals.edit(by, { referral_id, status: 'rejected' }),
    (referral_id: number) => referrals.remove(by, referral_id),
  ]
  for (const [part, change] of changes.entries()) {
    const refund = await create(by, { kind: 'refund', ...names, part: `${part}`, amount: 10 })
    const child = refund.referrals.findLast(({ parent_id }) => parent_id === id)!.id
    const { changing, free } = await database.transaction(async tx => {
      const lock = (row: number) => tx.selectFrom('referrals').select('id').where('id', '=', row).forUpdate()
      await lock(id).execute()
      const changing = change(child)
      await until(async () => (await waitingOn(database)) === 1)
      return { changing, free: await lock(child).skipLocked().execute() }
    })
    await changing
    assert.deepEqual(free, [{ id: child }])
  }
})

test('an amount that is set while somebody else has a refund of it - waits before it posts anything (PostgreSQL)', async t => {
  const service = await serviceOn(await engines.PostgreSQL!())
  t.after(() => service.close())
  const { database } = service
  const by = operatorOf(database)
  const { id: affiliate_id } = await service.newAffiliate('set', { status: 'active' })
  const names = { context: 'shop', reference: '1', amount: 100 }
  const { id } = (await create(by, { kind: 'sale', ...names, affiliate_id })).referrals[0]!
  await referrals.edit(by, { referral_id: id, status: 'paid' })
  const refund = await create(by, { kind: 'refund', ...names, part: '1', amount: 50 })
  const child = refund.referrals.findLast(({ parent_id }) => parent_id === id)!.id
  await referrals.edit(by, { referral_id: child, status: 'rejected' })
  const { setting, free } = await database.transaction(async tx => {
    await tx.selectFrom('referrals').select('id').where('id', '=', child).forUpdate().execute()
    const setting = referrals.edit(by, { referral_id: id, amount: 8 })
    await until(async () => (await waitingOn(database)) === 1)
    const external = tx.selectFrom('balances').select('account').where('account', '=', 'external')
    return { setting, free: await external.forUpdate().skipLocked().execute() }
  })
  await setting
  assert.deepEqual(free, [{ account: 'external' }])
})

test('an amount that is set while the settings are being changed - keeps no report of its payment waiting (PostgreSQL)', async t => {
  const service = await serviceOn(await engines.PostgreSQL!())
  t.after(() => service.close())
  const { database } = service
  const by = operatorOf(database)
  const { id: affiliate_id } = await service.newAffiliate('set', { status: 'active' })
  const sale = { kind: 'sale' as const, context: 'shop', reference: '1', affiliate_id, amount: 100 }
  const { id: referral_id } = (await create(by, sale)).referrals[0]!
  const settings = (mode: string) => sql`LOCK TABLE settings IN ${sql.raw(mode)} MODE`
  const others = await database.transaction(async tx => {
    await settings('ROW SHARE').execute(tx)
    const changing = database.transaction(async other => {
      await settings('EXCLUSIVE').execute(other)
    })
    await until(async () => (await waitingOn(database)) === 1)
    const setting = referrals.edit(by, { referral_id, amount: 8 })
    await until(async () => (await waitingOn(database)) === 2)
    const names = sql<{ name: string }>`SELECT name FROM payment_names FOR UPDATE SKIP LOCKED`
    return { changing, setting, free: (await names.execute(tx)).rows }
  })
  await Promise.all([others.changing, others.setting])
  assert.deepEqual(others.free, [{ name: '1' }])
})
