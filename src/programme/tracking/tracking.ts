/** Visitors: where each is led, what token stands for the visit, and whether it counts. */
import type { IncomingHttpHeaders } from 'node:http'
import { withoutHost } from '../../base/network.ts'
import { Rounds } from '../../base/rounds.ts'
import type { Settings, TrackingSettings } from '../../base/settings.ts'
import { now } from '../../base/time.ts'
import type { RequestContext } from '../../events/write.ts'
import { allowedUrl, destinationOf, withToken } from '../links/destination.ts'
import { VisitBatch } from './batch.ts'
import { isPart, isPrefetch, isProgram } from './bots.ts'
import { type Followed, FollowedLinks } from './followed.ts'
import { currentKey, rotateKeys } from './keys.ts'
import { type ClickKey, campaignOf, newNonce, signClick } from './token.ts'

const KEYS_EVERY_MS = 10_000
const MAX_URL = 2048
const NAME_LENGTH = 254

/** Whether an address may have another visit counted. */
type Allow = (network: string) => boolean | Promise<boolean>

/** Who came, as far as it is looked at. */
export interface Visitor {
  readonly method: string
  readonly headers: IncomingHttpHeaders
  readonly address: string
}

/** By what a visitor came. */
export interface Coming {
  readonly followed: Followed | undefined
  /** Where they want to go instead of the page of the link. */
  readonly to: string | null
  readonly campaign: string | null
}

export class Tracking {
  readonly links: FollowedLinks
  readonly #context: RequestContext
  readonly #allow: Allow
  readonly #batch: VisitBatch
  readonly #rounds: Rounds
  #key: ClickKey | undefined

  /** @param report is told what could not be done; it is tried again */
  constructor(context: RequestContext, allow: Allow, report: (error: unknown) => void) {
    this.#context = context
    this.#allow = allow
    this.links = new FollowedLinks(context.database)
    this.#batch = new VisitBatch(context, report)
    // Who leads nobody needs no key.
    this.#rounds = new Rounds(KEYS_EVERY_MS, async () => this.#key && this.#readKey())
  }

  get settings(): Promise<Settings> {
    return this.#context.settings.current()
  }

  /** Writes the visits that wait. */
  async close(): Promise<void> {
    await this.#rounds.close()
    await this.#batch.close()
  }

  /** @returns the URL that a visitor is led to; undefined where the programme has no page */
  async lead(visitor: Visitor, { followed, to, campaign }: Coming): Promise<string | undefined> {
    const { tracking } = await this.settings
    const page = destinationOf(followed?.destination ?? '', tracking)
    if (!page || !followed) return page?.href
    const url = deeper(to, page, tracking)
    if (!followed.active || isPart(visitor.headers)) return url.href
    const { token, nonce, time, name } = await this.#sign(followed, campaign)
    if (await this.#counts(visitor)) {
      this.#batch.add({
        affiliateId: followed.affiliate_id,
        linkId: followed.id,
        campaign: name,
        url: shortened(url.href),
        referrer: shortened(String(visitor.headers.referer ?? '')),
        network: withoutHost(visitor.address),
        userAgent: visitor.headers['user-agent'] ?? '',
        nonce,
        time,
      })
    }
    return withToken(url, token)
  }

  async #sign({ affiliate_id: affiliateId, id: linkId, campaign: own }: Followed, sent: string | null) {
    const click = {
      affiliateId,
      linkId,
      campaign: campaignOf(plain(own || (sent ?? ''))),
      time: now(),
      nonce: newNonce(),
    }
    const key = this.#key ?? (await this.#readKey())
    return { token: signClick(click, key), nonce: click.nonce, time: click.time, name: click.campaign }
  }

  #counts({ method, headers, address }: Visitor): boolean | Promise<boolean> {
    if (method === 'HEAD' || isPrefetch(headers) || isProgram(headers['user-agent'])) return false
    return this.#allow(address)
  }

  async #readKey(): Promise<ClickKey> {
    await rotateKeys(this.#context)
    this.#key = await currentKey(this.#context.database.reader)
    return this.#key
  }
}

/** The page that was asked for, if it is on an allowed host. */
function deeper(to: string | null, page: URL, settings: TrackingSettings): URL {
  return (to === null ? undefined : allowedUrl(to, settings, page.href)) ?? page
}

/** Text of a visitor as it may stand in a record: one line, whole characters. */
function plain(text: string): string {
  return text.toWellFormed().replace(/\p{Cc}|[\u202A-\u202E\u2066-\u2069]/gu, '')
}

const shortened = (url: string) => plain(url.slice(0, MAX_URL))

/** Whether a code or login may be what a URL has in its place. */
export const isName = (name: string) => name !== '' && name.length <= NAME_LENGTH && plain(name) === name
