/**
 * Has the same conversation with this checkout and with another, and prints every difference in status, headers and
 * body: what a change of the house must not change. Both run under one clock, which goes on by a second with each
 * request; what is random is compared by name. Lists are asked of the demo data of the other, as this one migrates it.
 *
 *     npm run conversation -- --against ../other
 *     npm run conversation -- --against ../other --engine SQLite --chapter lists --ignore message --ignore description
 *
 * Without `--against` this checkout talks to itself: then nothing may differ.
 */
import { openSync, readFileSync, writeSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { administration } from './conversation/administration.ts'
import type { Ask, Chapter, Step } from './conversation/ask.ts'
import { differencesOf } from './conversation/differences.ts'
import { lists } from './conversation/lists.ts'
import { records } from './conversation/records.ts'
import { connections, crowd, damage, limits, outage } from './conversation/refusals.ts'
import { type Answer, Side } from './conversation/side.ts'
import { temporaryFolder } from './folder.ts'
import { execute, freshDatabase, PostgresServer } from './postgres.ts'

const here = fileURLToPath(new URL('..', import.meta.url))
const chapters = [records, lists, administration, limits, connections, crowd, damage, outage]

const { values } = parseArgs({
  options: {
    against: { type: 'string', default: here },
    engine: { type: 'string', multiple: true, default: ['SQLite', 'PostgreSQL'] },
    chapter: { type: 'string', multiple: true, default: chapters.map(({ name }) => name) },
    ignore: { type: 'string', multiple: true, default: [] },
    answers: { type: 'boolean', default: false },
  },
})
const checkouts = [here, resolve(values.against)] as const
const ignored = new Set(values.ignore)

const folder = await temporaryFolder()
const START = Date.UTC(2026, 5, 15, 12)
const STEP_MS = 1137
const clock = openSync(join(folder.path, 'clock'), 'w')
let time = 0

function pass(milliseconds: number): void {
  time += milliseconds
  writeSync(clock, new Float64Array([time]), 0, 8, 0)
}

/** For the programs that are started from here on. */
process.env.CONVERSATION_CLOCK = join(folder.path, 'clock')
process.env.NODE_OPTIONS = `--import=${new URL('conversation/clock.ts', import.meta.url)}`

interface Both<T> {
  readonly mine: T
  readonly its: T
}

const both = async <T>(make: (side: 0 | 1) => Promise<T>): Promise<Both<T>> => {
  const [mine, its] = await Promise.all([make(0), make(1)])
  return { mine, its }
}

interface Talk {
  readonly engine: string
  readonly sides: Both<Side>
  readonly databases: Both<string>
  readonly postgres: PostgresServer | undefined
}

let requests = 0
let differing = 0
/** Failures that an answer came to, as `status code`, with the messages. */
const failures = new Map<string, Set<string>>()

async function take({ sides, databases, postgres }: Talk, step: Step): Promise<Both<Answer[]> | undefined> {
  if ('pass' in step) pass(step.pass * 1000)
  else if ('sql' in step) await both(side => run([databases.mine, databases.its][side]!, step.sql))
  else if ('database' in step) await postgres!.stop()
  else if ('unread' in step) await both(side => begin([sides.mine, sides.its][side]!, step.unread))
  else {
    pass(STEP_MS)
    return both(side => answersOf([sides.mine, sides.its][side]!, step))
  }
  return undefined
}

async function answersOf(side: Side, step: Ask | { raw: string }): Promise<Answer[]> {
  if ('raw' in step) return [await side.raw(step.raw)]
  const answers = await Promise.all(Array.from({ length: step.times ?? 1 }, (_, nth) => side.ask(step, nth)))
  const distinct = new Map(answers.map(answer => [answer.status + answer.body, answer]))
  return [...distinct.keys()].toSorted().map(key => distinct.get(key)!)
}

async function begin(side: Side, ask: Ask): Promise<void> {
  await Promise.all(Array.from({ length: ask.times ?? 1 }, () => side.begin(ask)))
}

async function run(database: string, statement: string): Promise<void> {
  if (!database.startsWith('sqlite:')) {
    await execute(database, statement)
    return
  }
  const connection = new DatabaseSync(database.slice('sqlite:'.length), { timeout: 10_000 })
  connection.exec(statement)
  connection.close()
}

function report(title: string, { mine, its }: Both<Answer[]>): void {
  requests += 1
  for (const { status, body } of mine) if (status >= 400) noteFailure(status, body)
  if (values.answers) print([title, ...mine.map(({ status, body }) => `  ${status} ${body.slice(0, 300)}`)])
  const lines =
    mine.length === its.length
      ? mine.flatMap((answer, index) => differencesOf(answer, its[index]!, ignored))
      : [`answers: ${its.map(({ status }) => status)} -> ${mine.map(({ status }) => status)}`]
  if (lines.length === 0) return
  differing += 1
  print([title, ...lines.map(line => `  ${line}`), ''])
}

function noteFailure(status: number, body: string): void {
  const [, code, message] = /^\{"code":("\w+"),"message":("(?:[^"\\]|\\.)*")/.exec(body) ?? []
  if (code === undefined || message === undefined) return
  const name = `${status} ${JSON.parse(code)}`
  failures.set(name, (failures.get(name) ?? new Set()).add(JSON.parse(message)))
}

const print = (lines: readonly string[]) => process.stdout.write(`${lines.join('\n')}\n`)

function titleOf(step: Ask | { raw: string }): string {
  if ('raw' in step) return JSON.stringify(step.raw.slice(0, 80))
  const { method, path, body } = step
  if (body === undefined) return `${method} ${path}`
  const text = typeof body === 'string' || Buffer.isBuffer(body) ? String(body) : JSON.stringify(body)
  return `${method} ${path} ${text.slice(0, 120)}`
}

/** Both get the demo data of the other checkout, which this one migrates. */
async function fill(databases: Both<string>) {
  const access = await Side.filled(checkouts[1], databases.its)
  const [mine, its] = [databases.mine, databases.its].map(url => url.slice(url.lastIndexOf('/') + 1))
  if (databases.its.startsWith('sqlite:')) {
    await copyFile(join(folder.path, its!), join(folder.path, mine!))
  } else {
    const maintenance = new URL(databases.its)
    maintenance.pathname = 'postgres'
    await execute(maintenance.href, `DROP DATABASE ${mine}`)
    await execute(maintenance.href, `CREATE DATABASE ${mine} TEMPLATE ${its}`)
  }
  return access
}

async function talk(engine: string, { name, flags, steps }: Chapter): Promise<void> {
  time = START
  pass(0)
  // What a chapter stops belongs to it alone.
  const postgres = engine === 'PostgreSQL' ? await PostgresServer.launch(['fsync=off']) : undefined
  const databases = await both(async side =>
    postgres ? (await freshDatabase(postgres.url)).url : `sqlite:${folder.path}/${name}-${side}.db`,
  )
  const access = flags.includes('--demo') ? await fill(databases) : undefined
  const more = flags.filter(flag => flag !== '--demo')
  const sides = await both(side =>
    Side.start(checkouts[side], [databases.mine, databases.its][side]!, more, access),
  )
  try {
    for (const [index, step] of steps.entries()) {
      const answers = await take({ engine, sides, databases, postgres }, step)
      if (answers) report(`${engine}, ${name} ${index + 1}: ${titleOf(step as Ask)}`, answers)
    }
  } finally {
    await both(side => [sides.mine, sides.its][side]!.stop())
    await postgres?.remove()
  }
}

/** Failures of the error page that no answer came to. */
function missing(): string[] {
  const page = readFileSync(join(here, 'docs/errors.md'), 'utf8')
  return [...page.matchAll(/^\| (\d+) \| `(\w+)` \| (.*) \|$/gm)]
    .filter(([, status, code, message]) => {
      const messages = failures.get(`${status} ${code}`)
      const isPrecise = /^(?:400|403) rest_(?:invalid|missing|forbidden)/.test(`${status} ${code}`)
      return !messages || !(isPrecise || messages.has(message!))
    })
    .map(([, status, code, message]) => `${status} ${code}: ${message}`)
}

try {
  for (const engine of values.engine) {
    for (const chapter of chapters) {
      const applies = chapter.engine === undefined || chapter.engine === engine
      if (applies && values.chapter.includes(chapter.name)) await talk(engine, chapter)
    }
  }
  print([`${requests} requests, ${differing} with differences between ${checkouts[1]} and ${checkouts[0]}.`])
  const never = missing()
  if (never.length > 0 && values.chapter.length === chapters.length)
    print(['Failures that no answer came to:', ...never.map(line => `  ${line}`)])
  process.exitCode = differing === 0 ? 0 : 1
} finally {
  await folder.remove()
}
