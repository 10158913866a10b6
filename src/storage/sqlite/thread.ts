/** What runs on a thread of `threads.ts`: a connection that only reads, and answers one query after the other. */
import { setPriority } from 'node:os'
import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { Statements } from './statements.ts'
import type { Query, Result } from './threads.ts'

// On Linux this is the thread's alone: whoever answers requests comes first.
if (process.platform === 'linux') setPriority(10)
const { file, busyTimeoutMs } = workerData as { file: string; busyTimeoutMs: number }
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
    const { message, errcode, errstr, code } = thrown as Error & {
      errcode: number
      errstr: string
      code: string
    }
    return { error: { message, errcode, errstr, code } }
  }
}
