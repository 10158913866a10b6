/** Pages are loaded when they are first opened, and a tab may be older than the service that it asks for them. */
import { type ComponentType, lazy } from 'react'

/** When the page was last loaded anew to get a part of it, so that it is not done over and over. */
const RELOADED = 'affiliated.reloaded'
const AGAIN_AFTER_MS = 30_000

/** Says on the page what to do; there is nothing in it for the console. */
export class NotLoaded extends Error {}

/** Only what a person opens next is missing: everything that was typed has been saved or given up by then. */
async function loadAnew(cause: unknown): Promise<never> {
  const last = Number(sessionStorage.getItem(RELOADED) ?? 0)
  const isThere = await fetch(location.href, { method: 'HEAD', cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  )
  if (!isThere) throw new NotLoaded('The server does not answer. Try again in a moment.', { cause })
  if (Date.now() - last < AGAIN_AFTER_MS) {
    throw new NotLoaded('A part of this page could not be loaded. Try again in a moment.', { cause })
  }
  sessionStorage.setItem(RELOADED, String(Date.now()))
  location.reload()
  return new Promise(() => {})
}

/** A component that is loaded when it is first needed; after an upgrade or an outage, with the whole page. */
export function lazily<K extends string, P>(load: () => Promise<Record<K, ComponentType<P>>>, name: K) {
  return lazy(async () => ({ default: (await load().catch(loadAnew))[name] }))
}
