/** Who only looks: programs that say so, and browsers that fetch a page before anybody asks for it. */
import type { IncomingHttpHeaders } from 'node:http'
import { isbot } from 'isbot'

/** Longer than any browser's; what is behind it is not looked at. */
const AGENT_LENGTH = 512
const AGENTS_KEPT = 5000

/** By User-Agent: to look through the list takes longer than all the rest of a redirect. */
const known = new Map<string, boolean>()

/** A program by its User-Agent. A browser without a window is none: it runs the page as any other does. */
export function isProgram(userAgent = ''): boolean {
  const agent = userAgent.slice(0, AGENT_LENGTH)
  const before = known.get(agent)
  if (before !== undefined) return before
  const found = isbot(agent.replace('HeadlessChrome', 'Chrome'))
  if (known.size >= AGENTS_KEPT) known.clear()
  known.set(agent, found)
  return found
}

/** Whether a browser fetches it in case somebody will ask for it. */
export function isPrefetch(headers: IncomingHttpHeaders): boolean {
  const purpose = headers['sec-purpose'] ?? headers.purpose ?? headers['x-purpose'] ?? headers['x-moz']
  return purpose !== undefined && /prefetch|prerender|preview/i.test(String(purpose))
}

/** Whether a page loads it as a part of itself, an image or a frame that nobody has asked for. */
export function isPart({ 'sec-fetch-dest': destination }: IncomingHttpHeaders): boolean {
  return destination !== undefined && destination !== 'document' && destination !== 'empty'
}
