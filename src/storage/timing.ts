/** Publishes how long the database takes. */
import { channel } from 'node:diagnostics_channel'

/** The duration of each query, in seconds. */
export const queries = channel('affiliated.query')
/** A message, without content, for each durable commit. */
export const commits = channel('affiliated.commit')

/** Publishes the duration of a query. @param beganAt when the query began, by `performance.now()` */
export function tellDuration(beganAt: number): void {
  queries.publish((performance.now() - beganAt) / 1000)
}
