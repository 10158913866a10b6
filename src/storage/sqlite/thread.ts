/** Worker of `threads.ts`: a read-only connection that answers one query after the other. */
import { setPriority } from 'node:os'
import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { memberOf } from '../../base/unknown.ts'
import { BUSY_TIMEOUT_MS, openToRead } from './connect.ts'
import { Statements } from './statements.ts'
import type { Query, Result, ThreadData } from './threads.ts'

// A lower priority than the thread that answers requests. Only Linux has one for each thread.
if (process.platform === 'linux') setPriority(10)
const { file, readOnly }: ThreadData = workerData
const database = readOnly ? openToRead(file) : new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS })
database.exec('PRAGMA query_only = ON')
const statements = new Statements(database)

parentPort!.on('message', ({ text, parameters }: Query) => {
  parentPort!.postMessage(answer(text, parameters))
})

function answer(text: string, parameters: Query['parameters']): Result {
  try {
    return { rows: statements.all(text, parameters) }
  } catch (thrown) {
    // An Error passed between threads would lose SQLite's codes.
    const names = ['message', 'errcode', 'errstr', 'code']
    return { error: Object.fromEntries(names.map(name => [name, memberOf(thrown, name)])) }
  }
}
