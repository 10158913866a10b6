/** Recognises requests that are no visits: programs, and browsers that fetch a page in advance. */
import type { IncomingHttpHeaders } from 'node:http'
import { isbot } from 'isbot'

/** Longer than that of any browser; the rest is not looked at. */
const AGENT_LENGTH = 512
const AGENTS_KEPT = 5000

/** By User-Agent: searching the list takes longer than the rest of a redirect. */
const verdicts = new Map<string, boolean>()

/**
 * Recognises a program by its User-Agent, which every browser has. A headless browser is not one: it runs pages like any
 * other browser.
 */
export function isProgram(userAgent = ''): boolean {
  const agent = userAgent.slice(0, AGENT_LENGTH)
  const before = verdicts.get(agent)
  if (before !== undefined) return before
  const isBot = agent === '' || isbot(agent.replace('HeadlessChrome', 'Chrome'))
  if (verdicts.size >= AGENTS_KEPT) verdicts.clear()
  verdicts.set(agent, isBot)
  return isBot
}

/** Whether a browser fetches the page in advance. */
export function isPrefetch(headers: IncomingHttpHeaders): boolean {
  const purpose = headers['sec-purpose'] ?? headers.purpose ?? headers['x-purpose'] ?? headers['x-moz']
  return purpose !== undefined && /prefetch|prerender|preview/i.test(String(purpose))
}

/** Whether it is loaded as a part of a page, such as an image or a frame, without anybody following a link. */
export function isPart({ 'sec-fetch-dest': destination }: IncomingHttpHeaders): boolean {
  return destination !== undefined && destination !== 'document' && destination !== 'empty'
}
