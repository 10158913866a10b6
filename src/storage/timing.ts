/** Tells whoever listens how long the database takes; costs nothing while nobody does. */
import { channel } from 'node:diagnostics_channel'

/** Of each query, its seconds. */
export const queries = channel('affiliated.query')
/** Of each commit that is durable: undefined. */
export const commits = channel('affiliated.commit')

/** @param beganAt when the query began, by `performance.now()` */
export function tellDuration(beganAt: number): void {
  queries.publish((performance.now() - beganAt) / 1000)
}
