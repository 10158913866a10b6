/** What runs on a thread of `threads.ts`: a connection that only reads, and answers one query after the other. */
import { setPriority } from 'node:os'
import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { memberOf } from '../../base/unknown.ts'
import { Statements } from './statements.ts'
import type { Query, Result, ThreadData } from './threads.ts'

// On Linux this is the thread's alone: whoever answers requests comes first.
if (process.platform === 'linux') setPriority(10)
const { file, busyTimeoutMs }: ThreadData = workerData
const database = new DatabaseSync(file, { timeout: busyTimeoutMs })
database.exec('PRAGMA query_only = ON')
const statements = new Statements(database)

parentPort!.on('message', ({ text, parameters }: Query) => {
  parentPort!.postMessage(answer(text, parameters))
})

function answer(text: string, parameters: Query['parameters']): Result {
  try {
    return { rows: statements.all(text, parameters) }
  } catch (thrown) {
    // An Error that crosses threads would lose the codes that SQLite gave it.
    const names = ['message', 'errcode', 'errstr', 'code']
    return { error: Object.fromEntries(names.map(name => [name, memberOf(thrown, name)])) }
  }
}
