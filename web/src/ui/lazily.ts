/** Lazy loading of pages. A tab may be older than the service: after an upgrade its chunks are gone. */
import { type ComponentType, lazy, memo } from 'react'

/** When the page was last reloaded for a missing chunk, to prevent a reload loop. */
const RELOADED = 'affiliated.reloaded'
const AGAIN_AFTER_MS = 30_000

/** An error whose message tells the user what to do; it is not logged to the console. */
export class NotLoaded extends Error {}

/** Reloads the page. Nothing is lost: chunks are only loaded on navigation, after input was saved or discarded. */
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

/**
 * A component that is loaded when first needed. If that fails after an upgrade, the page is reloaded. The frame around it
 * renders several times while a page opens, and the page itself only when something in it changes.
 */
export function lazily<K extends string, P>(load: () => Promise<Record<K, ComponentType<P>>>, name: K) {
  return memo(lazy(async () => ({ default: (await load().catch(loadAnew))[name] })))
}
