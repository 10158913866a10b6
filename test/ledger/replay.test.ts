/**
 * Conversions that are reported again to an empty database, in the order in which they were, end in the same ledger: nothing
 * that is owed depends on anything else than what was reported, and on the rules, rates, groups and coupons as of then. When something
 * has happened (`occurred_at`) is reported with it; by when it was reported only its place in the order counts. What people
 * have changed by hand (approved, rejected, paid) is left out.
 */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { describe, test } from 'node:test'
import { features } from '../../src/app.ts'
import { checkDatabase } from '../../src/operations/check/rules.ts'
import { isEarning } from '../../src/programme/conversions/conversion.ts'
import { engines, type Service, startService } from '../harness.ts'

const CONVERSIONS = process.env.LONG ? 5000 : 40
const DAY = 86_400_000

/** Numbers that look random and are the same for the same seed (mulberry32). */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below)
  }
}

type Body = Record<string, any>

async function done(service: Service, method: string, path: string, body: Body): Promise<Body> {
  const reply = await service.send(method, path, { body })
  assert.ok(reply.status < 300, `${method} ${path} ${JSON.stringify(body)}: ${JSON.stringify(reply.body)}`)
  return reply.body
}

/** A programme that changes while its shops report. */
class Story {
  readonly #service: Service
  readonly #below: (below: number) => number
  readonly #affiliates: number[] = []
  readonly #groups: number[] = []
  readonly #rules: number[] = []
  #number = 0

  constructor(service: Service, seed: number) {
    this.#service = service
    this.#below = randomNumbers(seed)
  }

  async tell(): Promise<void> {
    for (const name of ['partners', 'press']) this.#groups.push((await this.#post('/groups', { name })).id)
    for (let count = 0; count < 6; count += 1) await this.#join()
    for (let count = 0; count < 4; count += 1) await this.#makeRule()
    while (this.#number < CONVERSIONS) {
      const [act] = this.#pick([
        [() => this.#report()],
        [() => this.#report()],
        [() => this.#report()],
        [() => this.#takeBack(`s${this.#below(this.#number + 3)}`)],
        [() => this.#credit()],
        [() => this.#changeProgramme()],
      ])
      await act!()
    }
  }

  #post = (path: string, body: Body) => done(this.#service, 'POST', path, body)
  #pick<T>(choices: readonly T[]): T {
    return choices[this.#below(choices.length)]!
  }

  #date = () => new Date(Date.now() - this.#below(400) * DAY).toISOString().slice(0, 19).replace('T', ' ')

  #changeProgramme(): Promise<unknown> {
    return this.#pick([
      () => this.#makeRule(),
      () => this.#changeRule(),
      () => this.#post('/coupons', this.#coupon()),
      () => this.#quote(),
      () => this.#move(),
    ])()
  }

  async #join(): Promise<void> {
    const number = this.#affiliates.length
    const own = number === 0 ? { rate: 12.5, rate_type: 'percentage' } : {}
    const group_id = this.#pick([0, ...this.#groups])
    const args = {
      create_user: true,
      payment_email: `a${number}@example.com`,
      status: 'active',
      group_id,
      ...own,
    }
    this.#affiliates.push((await this.#post('/affiliates', args)).id)
  }

  /** Somebody gets or loses a rate of their own, or is no longer active. */
  #move(): Promise<unknown> {
    const change = this.#pick([
      { rate: this.#below(3000) / 100, rate_type: 'percentage' },
      { rate: '', rate_type: '' },
      { status: 'inactive' },
      { status: 'active' },
      { group_id: this.#pick([0, ...this.#groups]) },
    ])
    return done(this.#service, 'PATCH', `/affiliates/${this.#pick(this.#affiliates)}`, change)
  }

  async #makeRule(): Promise<void> {
    const condition = this.#pick([
      { field: 'product', is: ['book', 'lamp'] },
      { field: 'country', not: ['FR'] },
      { field: 'coupon', is: ['code0', 'code1', 'code2'] },
      { field: 'amount', at_least: 30 },
      { field: 'order', at_least: 2 },
      { field: 'sales_ever', at_least: 3 },
      { field: 'volume_in_month', at_least: 50 },
    ])
    const owner = this.#pick([
      {},
      {},
      { group_id: this.#pick(this.#groups) },
      { affiliate_id: this.#pick(this.#affiliates) },
    ])
    const rule = await this.#post('/rules', {
      name: `rule ${this.#rules.length}`,
      rate: this.#below(2000) / 100,
      rate_type: this.#pick(['percentage', 'flat', 'per_item']),
      base: this.#pick(['net', 'gross']),
      conditions: this.#pick([[], [condition]]),
      priority: this.#below(3),
      ...this.#pick([{}, { hold_days: 0 }, { hold_days: 14 }, { hold_days: 3000 }, { max_payments: 2 }]),
      ...owner,
    })
    this.#rules.push(rule.id)
  }

  /** The next version of a rule, or its end. */
  async #changeRule(): Promise<void> {
    const place = this.#below(this.#rules.length)
    const id = this.#rules[place]!
    if (this.#below(6) === 0 && this.#rules.length > 2) {
      await done(this.#service, 'DELETE', `/rules/${id}`, {})
      this.#rules.splice(place, 1)
    } else {
      const edited = await done(this.#service, 'PATCH', `/rules/${id}`, { rate: this.#below(2000) / 100 })
      this.#rules[place] = edited.id
    }
  }

  #codes = 0
  #coupon = () => ({
    code: `code${this.#codes++}`,
    affiliate_id: this.#pick(this.#affiliates),
    campaign: 'spring',
  })

  #rates = 0
  #quote = () =>
    this.#post('/exchange-rates', {
      from_currency: this.#pick(['EUR', 'JPY']),
      rate: (1 + this.#below(2000)) / 1000,
      // Each on a day of its own.
      date: new Date(Date.now() - (500 - this.#rates++) * DAY).toISOString().slice(0, 10),
    })

  async #report(): Promise<void> {
    const number = this.#number++
    const currency = this.#pick(['USD', 'USD', 'EUR', 'JPY'])
    const factor = currency === 'JPY' ? 1 : 100
    const amount = (1 + this.#below(20_000)) / factor
    const origin = this.#pick<Body>([
      { affiliate_id: this.#pick(this.#affiliates) },
      { coupon: `Code${this.#below(this.#codes + 1)}` },
      {},
      { customer: { id: `c${this.#below(8)}`, email: `buyer${this.#below(8)}@example.com`, country: 'DE' } },
    ])
    const person = { id: `c${this.#below(8)}`, country: this.#pick(['DE', 'FR']) }
    const sale = {
      kind: this.#pick(['sale', 'sale', 'renewal', 'lead']),
      context: 'shop',
      reference: `s${number}`,
      references: [`ch${number}`],
      amount,
      tax: Math.floor(amount / 10),
      currency,
      lines: this.#pick<Body[]>([
        [],
        [
          { product: 'book', amount: 1 },
          { product: 'pen', quantity: 2, amount: 2 },
        ],
      ]),
      customer: person,
      occurred_at: this.#date(),
      ...origin,
    }
    // Refunded before it is known, now and then.
    if (this.#below(6) === 0) await this.#takeBack(`s${number}`, currency)
    await this.#post('/conversions', sale)
    if (this.#below(5) === 0)
      await this.#post('/conversions', { ...sale, reference: `ch${number}`, references: [] })
  }

  /** A refund or a dispute, of which the shop says another currency now and then: that is refused. */
  async #takeBack(reference: string, currency = 'USD'): Promise<void> {
    const part = { part: `p${this.#below(3)}`, amount: 1 + this.#below(100) }
    const args = this.#pick<Body>([
      { kind: 'refund', ...part },
      { kind: 'refund', cumulative: true, amount: 1 + this.#below(150) },
      { kind: 'dispute', ...part },
      { kind: 'dispute_won', part: part.part },
    ])
    const name = this.#pick([reference, reference.replace('s', 'ch')])
    await this.#service.post('/conversions', {
      context: 'shop',
      reference: name,
      currency,
      occurred_at: this.#date(),
      ...args,
    })
  }

  async #credit(): Promise<void> {
    const { body } = await this.#service.get<Body[]>('/conversions?unattributed=1&number=3')
    if (!Array.isArray(body) || body.length === 0) return
    const { context, reference } = this.#pick(body)
    const affiliate_id = this.#pick(this.#affiliates)
    await this.#service.post('/conversions', { kind: 'attribution', context, reference, affiliate_id })
  }
}

const asMade: Readonly<Record<string, readonly string[]>> = {
  group: ['name'],
  affiliate: ['payment_email', 'status', 'rate', 'rate_type', 'group_id'],
  rule: 'name affiliate_id group_id priority kinds conditions rate_type base max_payments hold_days'.split(
    ' ',
  ),
  coupon: ['code', 'affiliate_id', 'campaign'],
  'exchange-rate': ['from_currency', 'to_currency', 'rate', 'date'],
  conversion:
    'kind context reference part cumulative amount currency tax shipping discount lines customer coupon occurred_at'.split(
      ' ',
    ),
}

const pick = (record: Body, kind: string) =>
  Object.fromEntries(asMade[kind]!.map(name => [name, record[name]]))

/** Does again what the log of a service says, by what its records say. */
class Replay {
  readonly #from: Service
  readonly #to: Service
  readonly #names: Map<string, string[]>
  #last = 0

  constructor(from: Service, to: Service, names: Map<string, string[]>) {
    this.#from = from
    this.#to = to
    this.#names = names
  }

  /** @returns how many conversions there were */
  async run(): Promise<number> {
    for (let after = 0; ; ) {
      const events = await this.#read(`/events?number=1000&after=${after}`)
      if (events.length === 0) return this.#last
      for (const event of events as Body[]) await this.#again(event)
      after = events.at(-1)!.position
    }
  }

  #read = async (path: string): Promise<Body[]> => (await this.#from.get(path)).body
  #one = async (path: string): Promise<Body> => (await this.#from.get(path)).body

  async #again({ type, record, record_id: id, data, changes }: Body): Promise<void> {
    if (record === 'conversion') await this.#reportUpTo(id)
    else if (type === 'rule.create') await this.#post('/rules', await this.#rule(id))
    else if (type === 'rule.edit') await this.#nextVersion(id)
    else if (type === 'rule.delete') await done(this.#to, 'DELETE', `/rules/${id}`, {})
    else if (type === 'affiliate.create')
      await this.#post('/affiliates', { ...pick(data, record), create_user: true })
    else if (type === 'affiliate.edit') {
      const change = Object.entries(changes as Body).map(([name, [, value]]) => [name, value])
      await done(this.#to, 'PATCH', `/affiliates/${id}`, Object.fromEntries(change))
    } else if (/^(group|coupon|exchange_rate)\.create$/.test(type)) {
      const kind = record.replace('_', '-')
      await this.#post(`/${kind}s`, pick(await this.#one(`/${kind}s/${id}`), kind))
    }
  }

  #post = (path: string, body: Body) => done(this.#to, 'POST', path, body)

  async #rule(id: number): Promise<Body> {
    const record = await this.#one(`/rules/${id}`)
    return { ...pick(record, 'rule'), rate: Number(record.rate) }
  }

  /** The version before it is the one that was edited. */
  async #nextVersion(id: number): Promise<void> {
    const { series, version } = await this.#one(`/rules/${id}`)
    const versions = await this.#read(`/rules?series=${series}&number=0`)
    const before = versions.find(one => one.version === version - 1)!
    await done(this.#to, 'PATCH', `/rules/${before.id}`, await this.#rule(id))
  }

  /** In their order: what is credited beside a sale is logged before it. */
  async #reportUpTo(id: number): Promise<void> {
    while (this.#last < id) {
      const found = await this.#from.get(`/conversions/${++this.#last}`)
      // A number that nothing was reported under, because it was refused.
      if (found.status === 200) await this.#report(found.body)
    }
  }

  async #report(conversion: Body): Promise<void> {
    const { id, kind, context, reference } = conversion
    const { candidates } = await this.#one(`/conversions/${id}/explanation`)
    // Whoever is credited today may have been credited later, which is a conversion of its own.
    const credited = candidates.find((one: Body) => one.credited)
    await this.#post('/conversions', {
      ...pick(conversion, 'conversion'),
      // Names that only an equal report has told of stand with the sale.
      references: isEarning(kind) ? this.#names.get(`${context} ${reference}`)! : conversion.references,
      ...(credited && { affiliate_id: credited.affiliate_id }),
    })
  }
}

/** All names of the payment that has a name. */
async function namesOf({ database }: Service): Promise<Map<string, string[]>> {
  const rows = await database.reader.selectFrom('payment_names').selectAll().execute()
  const byPayment = Map.groupBy(rows, row => row.payment_id)
  return new Map(
    rows.map(({ context, name, payment_id }) => [
      `${context} ${name}`,
      byPayment.get(payment_id)!.map(row => row.name),
    ]),
  )
}

/** What is owed, and how it came to be, without what differs from one day to another. */
async function ledgerOf({ database }: Service) {
  const { reader } = database
  const referrals = await reader.selectFrom('referrals').selectAll().orderBy('id').execute()
  const places = new Map(referrals.map(({ id }, place) => [id, place]))
  const transfers = await reader.selectFrom('ledger_transfers').selectAll().orderBy('id').execute()
  const balances = await reader.selectFrom('balances').selectAll().execute()
  return {
    balances: balances.map(row => Object.values(row).join(' ')).sort(),
    referrals: referrals.map(({ id, parent_id, conversion_id, updated_at, ...rest }) => ({
      ...rest,
      parent: places.get(parent_id),
    })),
    transfers: transfers.map(({ affiliate_id, amount, debit, credit, reason, referral_id }) => [
      affiliate_id,
      Number(amount),
      `${debit} -> ${credit}`,
      reason,
      places.get(referral_id!),
    ]),
  }
}

for (const engine of Object.keys(engines)) {
  describe(`conversions that are reported again (${engine})`, () => {
    test(`${CONVERSIONS} sales with what was taken back, in a programme that changes: the same ledger`, async t => {
      const seed = Number(process.env.SEED ?? randomInt(1_000_000))
      t.diagnostic(`SEED=${seed}`)
      const [from, to] = [await startService(engine), await startService(engine)]
      t.after(() => Promise.all([from.close(), to.close()]))
      await new Story(from, seed).tell()
      const reported = await new Replay(from, to, await namesOf(from)).run()
      const [first, again] = [await ledgerOf(from), await ledgerOf(to)]
      assert.deepEqual(again, first)
      const types = Map.groupBy(first.referrals, ({ type, status }) => `${type} ${status}`)
      t.diagnostic(
        `${reported} conversions, ${first.transfers.length} transfers; ${[...types].map(([type, of]) => `${of.length} ${type}`).join(', ')}`,
      )
      assert.ok(first.transfers.length > CONVERSIONS / 3)
      assert.deepEqual((await checkDatabase(to.database, features)).problems, [])
    })
  })
}
