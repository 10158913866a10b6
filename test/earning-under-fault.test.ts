/**
 * The service is killed while referrals are earned, approved, refused and paid: what was acknowledged is there, and every figure of
 * the ledger agrees. LONG=1 makes the rounds a hundred.
 */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { features } from '../src/app.ts'
import { sealEntries } from '../src/events/seal.ts'
import { checkDatabase } from '../src/operations/check/rules.ts'
import { engines, openDatabase, serveProcess } from './harness.ts'
import { type Answered, type Ask, load, until } from './load.ts'

const ROUNDS = process.env.LONG ? 100 : 2
const WRITERS = 8

type Body = Record<string, string | number>

/** Referrals, and what becomes of those that were acknowledged: every third is paid, others are refused or deleted. */
function asks(base: string, round: number, acknowledged: () => readonly Answered[]) {
  const used = new Set<number>()
  const next = (): number | undefined => {
    for (const { status, body } of acknowledged()) {
      const { referral_id: id } = status === 201 ? (JSON.parse(body) as Body) : {}
      if (typeof id === 'number' && !used.has(id)) {
        used.add(id)
        return id
      }
    }
    return undefined
  }
  return (number: number): Ask => {
    const id = number % 2 === 0 ? undefined : next()
    if (id === undefined) {
      const body = {
        affiliate_id: 1,
        amount: 1 + (number % 100) / 100,
        status: number % 3 === 0 ? 'pending' : 'unpaid',
        context: 'shop',
        reference: `r${round}n${number}`,
      }
      return { method: 'POST', url: `${base}/v1/referrals`, body }
    }
    if (number % 3 === 0) {
      return { method: 'POST', url: `${base}/v1/payouts`, body: { affiliate_id: 1, referrals: [id] } }
    }
    const url = `${base}/v1/referrals/${id}`
    return number % 5 === 0
      ? { method: 'DELETE', url }
      : { method: 'PATCH', url, body: { status: 'rejected' } }
  }
}

/** Of referrals and payouts the newest state that was acknowledged is there: none is lost, and none has come back. */
async function assertKept(url: string, answers: readonly Answered[]): Promise<number> {
  const database = await openDatabase(url)
  try {
    const { reader } = database
    const there = new Map(
      (await reader.selectFrom('referrals').select(['id', 'status', 'payout_id']).execute()).map(row => [
        row.id,
        row,
      ]),
    )
    const payouts = new Set((await reader.selectFrom('payouts').select('id').execute()).map(({ id }) => id))
    const deleted = new Set<number>()
    let kept = 0
    for (const { status, body } of answers) {
      if (status !== 200 && status !== 201) continue
      const record = JSON.parse(body) as Body & { previous?: Body }
      kept += 1
      if (record.previous) deleted.add(Number(record.previous.referral_id))
      else if (record.referrals !== undefined) {
        assert.ok(payouts.has(Number(record.payout_id)), `payout ${record.payout_id} is lost`)
        const paid = there.get(Number(record.referrals))
        assert.deepEqual([paid?.status, paid?.payout_id], ['paid', record.payout_id])
      } else if (record.status === 'rejected') {
        assert.equal(there.get(Number(record.referral_id))?.status, 'rejected')
      }
    }
    for (const { status, body } of answers) {
      const { referral_id: id, referrals } = status === 201 ? (JSON.parse(body) as Body) : {}
      if (id === undefined || referrals !== undefined || deleted.has(Number(id))) continue
      // A deletion that was under way may have been done.
      if (!there.has(Number(id))) assert.ok(await wasDeleted(database, Number(id)), `referral ${id} is lost`)
    }
    for (const id of deleted) assert.ok(!there.has(id), `referral ${id} has come back`)
    await sealEntries(database)
    const { problems } = await checkDatabase(database, features)
    assert.deepEqual(problems, [])
    return kept
  } finally {
    await database.close()
  }
}

async function wasDeleted(
  { reader }: Awaited<ReturnType<typeof openDatabase>>,
  id: number,
): Promise<boolean> {
  const query = reader.selectFrom('events').select('id').where('record_kind', '=', 'referral')
  const rows = await query.where('record_id', '=', id).where('action', '=', 'referral.delete').execute()
  return rows.length > 0
}

describe(`kill -9 while referrals are earned and paid, ${ROUNDS} rounds`, () => {
  for (const [engine, fresh] of Object.entries(engines)) {
    test(engine, { timeout: ROUNDS * 60_000 }, async t => {
      const { url, remove } = await fresh()
      t.after(remove)
      const answers: Answered[] = []
      let token = ''
      let kept = 0
      for (let round = 0; round < ROUNDS; round += 1) {
        const service = await serveProcess(['--database', url, '--log-level', 'fatal'])
        t.after(() => service.stop('SIGKILL'))
        token ||= service.announced.token
        const base = service.announced.url
        if (round === 0) {
          const { status } = await fetch(`${base}/v1/affiliates`, {
            method: 'POST',
            headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
            body: JSON.stringify({ create_user: true, payment_email: 'killed@example.com' }),
          })
          assert.equal(status, 201)
        }
        let current: readonly Answered[] = []
        const writers = load(
          token,
          WRITERS,
          asks(base, round, () => current),
        )
        t.after(writers.stop)
        current = writers.answers
        await until(() => writers.answers.length > 40)
        await delay(randomInt(10, 400))
        await service.stop('SIGKILL')
        await writers.stop()
        assert.ok(writers.lost.length > 0, 'it was killed while requests were under way')
        answers.push(...writers.answers)
        kept = await assertKept(url, answers)
      }
      const paid = answers.filter(({ status, body }) => status === 201 && body.includes('"payout_method"'))
      assert.ok(paid.length > 0, 'some were paid')
      t.diagnostic(`${kept} acknowledged writes, none lost; ${paid.length} payouts`)
    })
  }
})
