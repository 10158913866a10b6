/**
 * A ledger of many transfers: what the balances of one day cost of an affiliate who has 10,000 of them, and how long the
 * check of the ledger takes. `node bench/ledger.ts --transfers 10000000`
 */
import { parseArgs } from 'node:util'
import { table } from '../src/cli/command.ts'
import { checks } from '../src/programme/ledger/check/rules.ts'
import { openDatabase, temporaryFolder } from '../test/harness.ts'
import { addPayees } from '../test/many-referrals.ts'
import { freshDatabase, PostgresServer } from '../test/postgres.ts'
import { commandsOn, medianOf, progress } from './measure.ts'
import { type Process, startServer } from './processes.ts'

const { values } = parseArgs({
  options: {
    transfers: { type: 'string', default: '1000000' },
    engine: { type: 'string', default: 'SQLite' },
    json: { type: 'boolean', default: false },
  },
})

const EACH = 10_000
const PAYEES = Math.ceil(Number(values.transfers) / EACH)
const REQUESTS = 200

async function fill(url: string): Promise<void> {
  progress(`${values.engine}: fills a ledger with ${values.transfers} transfers`)
  const database = await openDatabase(url)
  await addPayees(database, { payees: PAYEES, each: EACH })
  await database.close()
}

/** @returns a token */
async function addKey(url: string): Promise<string> {
  const run = commandsOn(url)
  await run('users', 'create', '--login', 'bench', '--email', 'bench@bench.example', '--role', 'reader')
  return (await run('keys', 'create', '--name', 'bench', '--user', 'bench')).token
}

/** Of the one moment in the middle: half of the transfers are after it. */
async function measureBalances(server: Process, token: string) {
  const moment = new Date((1_700_000_000 + EACH / 2) * 1000).toISOString()
  const took: number[] = []
  const cpu = server.cpuUs()!
  for (let request = 0; request < REQUESTS; request += 1) {
    const id = 1 + (request % PAYEES)
    const began = performance.now()
    const response = await fetch(`${server.url}/v1/affiliates/${id}/balances?as_of=${moment}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    if (!response.ok) throw new Error(await response.text())
    await response.text()
    took.push(performance.now() - began)
  }
  return { medianMs: medianOf(took), cpuMs: (server.cpuUs()! - cpu) / REQUESTS / 1000 }
}

async function measureChecks(url: string) {
  const database = await openDatabase(url)
  const seconds: Record<string, number> = {}
  for (const check of checks) {
    const began = performance.now()
    for await (const problem of check(database.reader)) throw new Error(problem)
    seconds[check.name] = (performance.now() - began) / 1000
    progress(`${check.name}: ${seconds[check.name]!.toFixed(1)} s`)
  }
  await database.close()
  return seconds
}

const folder = await temporaryFolder()
const postgres = values.engine === 'PostgreSQL' ? await PostgresServer.launch() : undefined
try {
  const url = postgres ? (await freshDatabase(postgres.url)).url : `sqlite:${folder.path}/ledger.db`
  await fill(url)
  const token = await addKey(url)
  const server = await startServer(url)
  const balances = await measureBalances(server, token)
  await server.stop()
  const checked = await measureChecks(url)
  const report = { engine: values.engine, transfers: Number(values.transfers), balances, checks: checked }
  const rows = [
    ['balances of a day, median ms', balances.medianMs.toFixed(2)],
    ['balances of a day, CPU ms of the server', balances.cpuMs.toFixed(2)],
    ...Object.entries(checked).map(([name, seconds]) => [`${name}, s`, seconds.toFixed(1)]),
    [
      'all checks of the ledger, s',
      Object.values(checked)
        .reduce((sum, one) => sum + one, 0)
        .toFixed(1),
    ],
  ]
  if (values.json) process.stdout.write(`${JSON.stringify(report)}\n`)
  else process.stdout.write(`${table(['', values.engine!], rows).join('\n')}\n`)
} finally {
  await postgres?.remove()
  await folder.remove()
}
