/**
 * Who follows the log gets each event once and misses none, whatever happens meanwhile: several that write, refusals,
 * transactions that are undone, some that are committed seconds after later ones, and a node that is killed and
 * replaced. The log is the same on a copy. LONG=1 makes the writes many and the transactions long.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { schema } from '../src/app.ts'
import { verifyChain } from '../src/events/verify.ts'
import { publicVocabulary } from '../src/operations/events/schema.ts'
import { edit } from '../src/programme/affiliates/rules.ts'
import { type Database, within } from '../src/storage/database.ts'
import {
  affiliated,
  engines,
  openDatabase,
  operatorOf,
  type ServeProcess,
  serveProcess,
  unopened,
} from './harness.ts'
import { type Ask, type Load, load, tally, until } from './load.ts'

const WRITERS = 8
const WRITES = process.env.LONG ? 20_000 : 600
const LATE_MS = process.env.LONG ? 5000 : 700
const KILLS = process.env.LONG ? 4 : 1
/** Affiliates that are there from the beginning: first those that the writers edit, then those that are edited late. */
const EDITED = 10
const LATE = 2

interface Event {
  position: number
  id: number
  type: string
  record: string
  record_id: number
  data: Record<string, unknown> | null
  changes: Record<string, [unknown, unknown]> | null
}

for (const [engine, other, nodes] of [
  ['PostgreSQL', 'SQLite', 2],
  ['SQLite', 'PostgreSQL', 1],
] as const) {
  test(`events under fault (${engine}): each of ${WRITES} writes once, and the same on a copy`, {
    timeout: 60_000 + WRITES * 100,
  }, async t => {
    const ends: (() => unknown)[] = []
    t.after(async () => {
      for (const end of ends.toReversed()) await end()
    })
    const [fresh, target] = await Promise.all([engines[engine]!(), unopened[other]!()])
    ends.push(fresh.remove, target.remove)
    const programme = new Programme(fresh.url, nodes)
    ends.push(() => programme.stop('SIGKILL'))
    await programme.start()
    const { token } = programme
    const reader = new Reader(token, () => programme.url())
    ends.push(() => reader.stop())
    const reading = reader.read()
    const late = engine === 'PostgreSQL' ? new LateEdits(fresh.url) : undefined
    ends.push(() => late?.stop())
    const writing = load(token, WRITERS, number => ask(programme.url(), number))
    ends.push(writing.stop)
    for (let kill = 1; kill <= KILLS; kill += 1) {
      await until(() => writing.answers.length >= (WRITES * kill) / (KILLS + 1), WRITES * 100)
      await programme.replace(kill % nodes)
    }
    await until(() => writing.answers.length >= WRITES, WRITES * 100)
    await writing.stop()
    await late?.stop()
    reader.end()
    await reading
    assert.equal(await programme.stop(), 0)

    assertVaried(writing)
    assertFollows(reader.events)
    await assertComplete(fresh.url, reader.events, writing, late)

    const copied = await affiliated(['copy', '--from', fresh.url, '--to', target.url])
    assert.equal(copied.code, 0, copied.stderr)
    const copy = new Programme(target.url, 1, token)
    ends.push(() => copy.stop('SIGKILL'))
    await copy.start()
    const again = new Reader(token, () => copy.url())
    ends.push(() => again.stop())
    again.end()
    await again.read()
    assert.deepEqual(again.events, reader.events)
    // Who followed the original goes on with the copy.
    await load(token, 1, number => ask(copy.url(), number)).stop()
    await reader.goOn(() => copy.url())
    assert.equal(reader.events.length, again.events.length + 1)
    assertFollows(reader.events)
    assert.equal(await copy.stop(), 0)
    await assertComplete(target.url, reader.events)
    t.diagnostic(
      `${reader.events.length} events in ${reader.requests} requests, ${reader.displaced} of them behind later identifiers; answers ${JSON.stringify(tally(writing.answers))}, ${writing.lost.length} lost; ${late?.committed ?? 0} late, ${late?.undone ?? 0} undone`,
    )
  })
}

/** Creates, edits and deletes of accounts, affiliates and payouts, and some that are refused. */
function ask(base: string, number: number): Ask {
  const round = Math.floor(number / 6)
  const affiliate = `${base}/v1/affiliates/${1 + (number % EDITED)}`
  const recent = `${base}/v1/payouts/${Math.max(1, round - 5)}`
  const asks: Ask[] = [
    {
      method: 'POST',
      url: `${base}/v1/affiliates`,
      body: { create_user: true, payment_email: `new${number}@example.com`, rate: number % 50 },
    },
    {
      method: 'PATCH',
      url: affiliate,
      body: { payment_email: `paid${number}@example.com`, rate: number % 50 },
    },
    { method: 'PATCH', url: affiliate, body: { account_email: `account${number}@example.com` } },
    {
      method: 'POST',
      url: `${base}/v1/payouts`,
      body: { affiliate_id: 1, amount: (1 + (number % 900)) / 100, referrals: [number] },
    },
    // Of those that were deleted, it is refused.
    {
      method: 'PATCH',
      url: recent,
      body: { affiliate_id: 1, status: round % 2 ? 'failed' : 'paid', referrals: [number] },
    },
    round % 2
      ? { method: 'DELETE', url: recent }
      : {
          method: 'POST',
          url: `${base}/v1/affiliates`,
          body: { create_user: true, payment_email: 'first1@example.com' },
        },
  ]
  return asks[number % asks.length]!
}

/** One or more nodes on a database. */
class Programme {
  readonly #databaseUrl: string
  readonly #count: number
  readonly #nodes: ServeProcess[] = []
  #next = 0
  token: string

  constructor(databaseUrl: string, count: number, token = '') {
    this.#databaseUrl = databaseUrl
    this.#count = count
    this.token = token
  }

  /** On a fresh database, with the affiliates that are edited. */
  async start(): Promise<void> {
    for (let number = 0; number < this.#count; number += 1) this.#nodes.push(await this.#node())
    if (this.token) return
    this.token = this.#nodes[0]!.announced.token
    for (let number = 1; number <= EDITED + LATE + 1; number += 1) {
      const { status } = await fetch(`${this.url()}/v1/affiliates`, {
        method: 'POST',
        headers: { authorization: `Bearer ${this.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ create_user: true, payment_email: `first${number}@example.com` }),
      })
      assert.equal(status, 201)
    }
  }

  /** Of one node after the other. */
  url(): string {
    this.#next += 1
    return this.#nodes[this.#next % this.#nodes.length]!.announced.url
  }

  /** Kills a node at once, and starts another. */
  async replace(number: number): Promise<void> {
    await this.#nodes[number]!.stop('SIGKILL')
    this.#nodes[number] = await this.#node()
  }

  /** @returns the worst exit code */
  async stop(signal?: NodeJS.Signals): Promise<number> {
    const codes = await Promise.all(this.#nodes.map(node => node.stop(signal)))
    return Math.max(0, ...codes.map(code => code ?? 1))
  }

  #node(): Promise<ServeProcess> {
    return serveProcess(['--database', this.#databaseUrl, '--log-level', 'fatal'])
  }
}

/** Follows the log by `GET /v1/events?after=`, asking again whenever no answer comes. */
class Reader {
  readonly events: Event[] = []
  requests = 0
  readonly #token: string
  #url: () => string
  #after = 0
  #ended = false
  #stopped = false

  constructor(token: string, url: () => string) {
    this.#token = token
    this.#url = url
  }

  /** From now on, nobody writes: it reads to the end. */
  end(): void {
    this.#ended = true
  }

  stop(): void {
    this.#stopped = true
  }

  async read(): Promise<void> {
    while (!this.#stopped) {
      const last = this.#ended
      const count = await this.#page()
      if (count === 0 && last) return
      await delay(1)
    }
  }

  async goOn(url: () => string): Promise<void> {
    this.#url = url
    await this.read()
  }

  /** How many were got behind one that has a higher identifier. */
  get displaced(): number {
    let highest = 0
    return this.events.filter(({ id }) => {
      highest = Math.max(highest, id)
      return id < highest
    }).length
  }

  /** @returns how many events there were; undefined when there was no answer */
  async #page(): Promise<number | undefined> {
    this.requests += 1
    const number = 1 + (this.requests % 300)
    const events = await fetch(`${this.#url()}/v1/events?after=${this.#after}&number=${number}`, {
      headers: { authorization: `Bearer ${this.#token}` },
    }).then(
      async reply => (reply.status === 200 ? ((await reply.json()) as Event[]) : undefined),
      () => undefined,
    )
    if (events === undefined) return undefined
    this.events.push(...events)
    this.#after = events.at(-1)?.position ?? this.#after
    return events.length
  }
}

/** Edits whose events are written long before they are committed, and others that are undone. */
class LateEdits {
  committed = 0
  undone = 0
  readonly #stopped = new AbortController()
  readonly #running: Promise<void>

  constructor(url: string) {
    this.#running = this.#run(url)
  }

  async stop(): Promise<void> {
    this.#stopped.abort()
    await this.#running
  }

  async #run(url: string): Promise<void> {
    const database = await openDatabase(url)
    const late = Array.from({ length: LATE }, (_, number) =>
      this.#repeat(database, EDITED + 1 + number, LATE_MS / (number + 1)),
    )
    const undone = this.#repeat(database, EDITED + LATE + 1, 3, true)
    await Promise.all([...late, undone]).finally(() => database.close())
  }

  async #repeat(database: Database, id: number, lastsMs: number, undo = false): Promise<void> {
    for (let number = 0; number === 0 || !this.#stopped.signal.aborted; number += 1) {
      const work = database.transaction(async tx => {
        const args = { affiliate_id: id, payment_email: `late${number}${undo}@example.com` }
        await edit(operatorOf(within(database, tx)), args)
        await delay(lastsMs)
        if (undo) throw new Undone()
      })
      if (undo) {
        await assert.rejects(work, Undone)
        this.undone += 1
      } else {
        await work
        this.committed += 1
      }
      await delay(lastsMs / 10)
    }
  }
}

class Undone extends Error {}

/** The writes were what they were meant to be. */
function assertVaried({ answers }: Load): void {
  const statuses = tally(answers)
  assert.ok(statuses[201]! > WRITES / 4, JSON.stringify(statuses))
  assert.ok(statuses[200]! > WRITES / 4, JSON.stringify(statuses))
  assert.ok(statuses[409]! > WRITES / 20, JSON.stringify(statuses))
}

/** Positions increase; and each event of a record goes on from the one before. */
function assertFollows(events: readonly Event[]): void {
  const records = new Map<string, Record<string, unknown> | undefined>()
  let last = 0
  for (const { position, id, type, record, record_id, data, changes } of events) {
    const name = `event ${id} at ${position}, ${type} ${record_id}`
    assert.ok(position > last, `${name} is behind ${last}`)
    last = position
    const key = `${record} ${record_id}`
    const before = records.get(key)
    if (type.endsWith('.create')) {
      assert.equal(before, undefined, `${name} is there already`)
      records.set(key, { ...data })
      // The account that is made with an affiliate has no event of its own.
      if (record === 'affiliate') records.set(`user ${data!.user_id}`, { email: data!.account_email })
    } else if (type.endsWith('.delete')) {
      assert.deepEqual(data, filled(before), name)
      records.delete(key)
    } else {
      assert.ok(before, `${name} is not there yet`)
      for (const [field, [old, fresh]] of Object.entries(changes!)) {
        assert.deepEqual(old, before[field] ?? (old === '' ? '' : null), `${name}: ${field}`)
        before[field] = fresh
      }
    }
  }
}

/** What of a record an event of its end has. */
const filled = (values: Record<string, unknown> = {}) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== '' && value !== null))

/** What was got is all that the log has of public kinds, in its order, and the log is whole. */
async function assertComplete(
  url: string,
  events: readonly Event[],
  written?: Load,
  late?: LateEdits,
): Promise<void> {
  const database = await openDatabase(url)
  try {
    const { problem, unsealed } = await verifyChain(database.reader)
    assert.deepEqual([problem, unsealed], [undefined, 0])
    const rows = await database.reader
      .selectFrom('events')
      .select('id')
      .where('record_kind', 'in', publicVocabulary(schema).kinds)
      .orderBy('id')
      .execute()
    const ids = events.map(({ id }) => id).sort((a, b) => a - b)
    assert.deepEqual(
      ids,
      rows.map(({ id }) => id),
    )
    const made = new Set(events.filter(({ type }) => type.endsWith('.create')).map(recordOf))
    for (const { status, body } of written?.answers ?? []) {
      if (status !== 201) continue
      const { id, payout_id } = JSON.parse(body)
      const record = recordOf({ record: payout_id === undefined ? 'affiliate' : 'payout', record_id: id })
      assert.ok(made.has(record), `${record} was answered, and has no event`)
    }
    if (late) {
      const edits = events.filter(
        ({ record, record_id, changes }) =>
          record === 'affiliate' && record_id > EDITED && record_id <= EDITED + LATE && changes !== null,
      )
      assert.equal(edits.length, late.committed)
      assert.ok(late.committed >= LATE && late.undone > 10)
    }
  } finally {
    await database.close()
  }
}

const recordOf = ({ record, record_id }: Pick<Event, 'record' | 'record_id'>) => `${record} ${record_id}`
