/**
 * The service is killed in each step of a payout run: the next start goes on with it, nobody is paid twice, and the books
 * agree. LONG=1 kills it in every step, twenty times on each engine; else it is killed in two steps.
 */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { features } from '../src/app.ts'
import { sealEntries } from '../src/events/seal.ts'
import { checkDatabase } from '../src/operations/check/rules.ts'
import { engines, openDatabase, serveProcess } from './harness.ts'
import { until } from './load.ts'
import { addPayees } from './many-referrals.ts'

const ROUNDS = process.env.LONG ? 20 : 1
/** Several chunks of each step. */
const PAYEES = 120
const EACH = 3
const LONGEST_MS = 150
/** The check names so many of the rows that are wrong in a table. */
const NAMED = 10
const shortly = ['reserve', ['cancel', 'send', 'record', 'close'][randomInt(4)]!]

type Body = Record<string, unknown>
type Service = Awaited<ReturnType<typeof serveProcess>>

/** A run, whose service is killed under it. */
class Killed {
  readonly #url: string
  #token = ''
  #service: Service | undefined
  /** The path of the run. */
  run = ''

  constructor(url: string) {
    this.#url = url
  }

  async start(): Promise<void> {
    this.#service = await serveProcess(['--database', this.#url, '--log-level', 'fatal'])
    this.#token ||= this.#service.announced.token
  }

  async stop(): Promise<void> {
    await this.#service?.stop('SIGKILL')
  }

  async ask(method: string, path: string, body?: Body): Promise<{ status: number; text: string }> {
    const answer = await fetch(`${this.#service!.announced.url}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, text: await answer.text() }
  }

  async done(method: string, path: string, body?: Body): Promise<any> {
    const { status, text } = await this.ask(method, path, body)
    assert.ok(status < 300, `${method} ${path}: ${status} ${text}`)
    return text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text
  }

  /** Asks, kills the service some time after, and starts another. */
  async under(step: string, method: string, path: string, body?: Body): Promise<void> {
    if (!process.env.LONG && !shortly.includes(step)) {
      await this.ask(method, path, body)
      return
    }
    const asked = this.ask(method, path, body).catch(() => {})
    await delay(randomInt(LONGEST_MS))
    await this.stop()
    await asked
    await this.start()
  }

  /** Once nothing is under way. */
  async settled(met: (run: any) => boolean): Promise<any> {
    let run: any
    await until(async () => {
      run = await this.done('GET', this.run)
      return met(run)
    })
    return run
  }

  /** A draft that lists everybody, whenever the service was killed. */
  async prepare(): Promise<any> {
    const before = await this.done('GET', '/payout-runs?number=-1')
    await this.under('prepare', 'POST', '/payout-runs')
    const after = await this.done('GET', '/payout-runs?number=-1')
    const made =
      after.length > before.length ? { id: Math.max(...after.map((one: any) => one.id)) } : undefined
    this.run = `/payout-runs/${(made ?? (await this.done('POST', '/payout-runs'))).id}`
    const run = await this.settled(run => run.hash !== '')
    assert.equal(run.payees, PAYEES)
    return run
  }

  async approve(hash: string): Promise<void> {
    await this.under('reserve', 'POST', `${this.run}/approve`, { hash })
    const { status } = await this.done('GET', this.run)
    if (status === 'draft') await this.done('POST', `${this.run}/approve`, { hash })
    assert.equal((await this.settled(run => run.status === 'approved')).done, PAYEES)
  }

  async cancel(): Promise<void> {
    await this.under('cancel', 'POST', `${this.run}/cancel`)
    await this.done('POST', `${this.run}/cancel`)
    await until(async () => (await this.done('GET', `${this.run}/reconciliation`)).open.count === 0)
  }

  async send(): Promise<string> {
    await this.under('write', 'GET', `${this.run}/files/csv`)
    const file = await this.done('GET', `${this.run}/files/csv`)
    await this.under('send', 'POST', `${this.run}/files/csv`)
    assert.equal(await this.done('GET', `${this.run}/files/csv`), file)
    assert.equal((await this.done('POST', `${this.run}/files/csv`)).status, 'sent')
    return file
  }

  async record(file: string): Promise<void> {
    const names = [...new Set(file.match(/R\d+[B-Z]{4}A\d+/g))]
    assert.equal(names.length, PAYEES)
    const lines = names.map((name, index) => `${name},${index % 10 === 0 ? 'failed' : 'paid'}`)
    const body = { content: `reference,status\n${lines.join('\n')}\n` }
    await this.under('record', 'POST', `${this.run}/results`, body)
    const { recorded, unchanged, conflicts } = await this.done('POST', `${this.run}/results`, body)
    assert.deepEqual([recorded.paid + recorded.failed + unchanged, conflicts], [PAYEES, []])
  }

  async close(): Promise<void> {
    await this.under('close', 'POST', `${this.run}/close`)
    assert.equal((await this.done('POST', `${this.run}/close`)).status, 'closed')
  }
}

/** Every check but what the log does not know of those who were put in; and who was paid how often. */
async function assertSound(url: string, rounds: number): Promise<void> {
  const database = await openDatabase(url)
  try {
    await sealEntries(database)
    const { problems } = await checkDatabase(database, features)
    assert.deepEqual(
      problems.filter(problem => !problem.includes('beside the service')),
      [`referrals: ${PAYEES * EACH - NAMED} more rows are wrong.`],
    )
    const { rows: wrong } = await sql`
      SELECT affiliate_id FROM payouts GROUP BY affiliate_id HAVING count(*) <> ${sql.lit(rounds)}`.execute(
      database.reader,
    )
    assert.deepEqual(wrong, [])
    const { rows: twice } = await sql`
      SELECT referral_id FROM payout_referrals JOIN payouts ON payouts.id = payout_id
        WHERE status = 'paid' GROUP BY referral_id HAVING count(*) > 1`.execute(database.reader)
    assert.deepEqual(twice, [])
  } finally {
    await database.close()
  }
}

describe('kill -9 in each step of a payout run', () => {
  const under = Object.entries(engines).slice(0, process.env.LONG ? 2 : 1)
  for (const [engine, fresh] of under) {
    test(`${engine}, ${ROUNDS} runs`, { timeout: ROUNDS * 300_000 }, async t => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const { url, remove } = await fresh()
        t.after(remove)
        const killed = new Killed(url)
        t.after(() => killed.stop())
        // The first start makes the key.
        await killed.start()
        await killed.stop()
        const database = await openDatabase(url)
        await addPayees(database, { payees: PAYEES, each: EACH })
        await database.close()
        await killed.start()
        const cancelled = await killed.prepare()
        await killed.approve(cancelled.hash)
        await killed.cancel()
        const run = await killed.prepare()
        assert.equal(run.amount, cancelled.amount)
        await killed.approve(run.hash)
        await killed.record(await killed.send())
        await killed.close()
        await killed.stop()
        await assertSound(url, 1)
      }
    })
  }
})
