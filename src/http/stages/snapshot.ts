import type { onRequestHookHandler } from 'fastify'
import type { Database } from '../../storage/database.ts'

/** A request sees everything that any process committed before it arrived. */
export function snapshot(database: Database): onRequestHookHandler {
  return (_request, _reply, done) => {
    database.refresh?.()
    done()
  }
}
