/** Tells whoever listens how long the database takes; costs nothing while nobody does. */
import { channel } from 'node:diagnostics_channel'

/** Of each query, its seconds. */
export const queries = channel('affiliated.query')
/** Of each commit that is durable: undefined. */
export const commits = channel('affiliated.commit')

/** Runs a query, and tells how long it took. */
export async function timed<T>(query: () => Promise<T>): Promise<T> {
  if (!queries.hasSubscribers) return query()
  const beganAt = performance.now()
  try {
    return await query()
  } finally {
    queries.publish((performance.now() - beganAt) / 1000)
  }
}
