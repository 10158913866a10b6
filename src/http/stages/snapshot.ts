import type { onRequestHookHandler } from 'fastify'
import type { Database } from '../../storage/database.ts'

/** Everything that is committed before a request arrives, whoever committed it, is what the request reads. */
export function snapshot(database: Database): onRequestHookHandler {
  return (_request, _reply, done) => {
    database.refresh?.()
    done()
  }
}
