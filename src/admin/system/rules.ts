/** State of the running service, for its operator. */
import type { Static } from 'typebox'
import { version } from '../../base/package.ts'
import { formatTime, now } from '../../base/time.ts'
import type { Context } from '../../events/write.ts'
import type { systemRecord } from './schema.ts'
import * as store from './store.ts'

/** Maximum age of cached counts: counting millions of rows takes an engine a while. */
const COUNTS_KEPT_MS = 30_000

export class SystemReport {
  #counts: Promise<Static<typeof systemRecord>['counts']> | undefined
  #countedAt = 0

  async read({ database }: Context): Promise<Static<typeof systemRecord>> {
    const uptime = Math.floor(process.uptime())
    if (!this.#counts || performance.now() - this.#countedAt > COUNTS_KEPT_MS) {
      this.#countedAt = performance.now()
      this.#counts = store.countRows(database)
      this.#counts.catch(() => {
        this.#counts = undefined
      })
    }
    return {
      version,
      node: process.versions.node,
      engine: database.engine.name,
      database_size_bytes: await store.databaseSize(database),
      counts: await this.#counts,
      uptime_seconds: uptime,
      started: formatTime(now() - uptime),
    }
  }
}
