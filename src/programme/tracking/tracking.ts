/** Visitors: where each is led, the token of the visit, and whether it counts. */
import type { IncomingHttpHeaders } from 'node:http'
import { isClockDoubtful } from '../../base/clock-watch.ts'
import { withoutHost } from '../../base/network.ts'
import { Rounds } from '../../base/rounds.ts'
import { asLine } from '../../base/schemas.ts'
import type { Settings, TrackingSettings } from '../../base/settings.ts'
import { now } from '../../base/time.ts'
import type { RequestContext } from '../../events/write.ts'
import { loadSettings } from '../../settings/rules.ts'
import { DatabaseUnavailable } from '../../storage/database.ts'
import { allowedUrl, destinationOf, isOn, withToken } from '../links/destination.ts'
import { shortened } from '../visits/url.ts'
import { VisitBatch, type VisitReports } from './batch.ts'
import { isPart, isPrefetch, isProgram } from './bots.ts'
import { CampaignNames } from './campaign-names.ts'
import { type Followed, FollowedLinks, type Found } from './followed.ts'
import { currentKey, rotateKeys } from './keys.ts'
import { inTime, KNOWN_MS, UNKNOWN_MS } from './patience.ts'
import type { BeaconOutcome } from './store.ts'
import { type ClickKey, campaignOf, newNonce, signClick } from './token.ts'

/** How long clicks may still be signed by a key that was taken back. */
const KEYS_EVERY_MS = 1000
const NAME_LENGTH = 254

/** Whether another visit from an address may be counted. */
type Allow = (network: string) => boolean | Promise<boolean>

/** The facts about a visitor that are used. */
export interface Visitor {
  readonly method: string
  readonly headers: IncomingHttpHeaders
  readonly address: string
}

/** The address that a visitor has followed. */
export interface Arrival {
  readonly followed: Followed | undefined
  /** The page that the address asks for instead of the link's. */
  readonly to: string | null
  readonly campaign: string | null
}

export class Tracking {
  readonly links: FollowedLinks
  readonly #context: RequestContext
  readonly #allow: Allow
  readonly #batch: VisitBatch
  readonly #names = new CampaignNames()
  readonly #rounds: Rounds
  #key: ClickKey | undefined
  #reading: Promise<ClickKey> | undefined
  #settings: Settings | undefined
  /** What the context has read, or is reading, and the same for visitors. */
  #current: { readonly read: Promise<Settings>; readonly forVisitors: Promise<Settings> } | undefined

  /** @param cutOff aborted when the end waits no longer for a database that refuses */
  constructor(context: RequestContext, allow: Allow, reports: VisitReports, cutOff?: AbortSignal) {
    this.#context = context
    this.#allow = allow
    this.links = new FollowedLinks(context.database)
    this.#batch = new VisitBatch(context, reports, cutOff)
    this.#rounds = new Rounds(KEYS_EVERY_MS, async () => {
      this.#settings = await loadSettings(this.#context.database.reader)
      // A service without visitors needs no key.
      if (this.#key) await this.#readKey()
    })
  }

  /** To be awaited before the first visitor, who may come while the database is away. */
  async begin(): Promise<void> {
    await this.#rounds.go()
  }

  /** The last ones that could be read: visitors are led to the page also while the database is away. */
  get settings(): Promise<Settings> {
    const read = this.#context.settings.current()
    if (this.#current?.read !== read) this.#current = { read, forVisitors: this.#forVisitors(read) }
    return this.#current.forVisitors
  }

  async #forVisitors(read: Promise<Settings>): Promise<Settings> {
    try {
      this.#settings = await inTime(read, this.#settings ? KNOWN_MS : UNKNOWN_MS)
      return this.#settings
    } catch (error) {
      goOn(error)
      if (!this.#settings) throw error
      return this.#settings
    }
  }

  /** Whom an address names; nobody where that cannot be looked up. */
  async find(look: (links: FollowedLinks) => Found): Promise<Followed | undefined> {
    try {
      return await look(this.links)
    } catch (error) {
      return goOn(error)
    }
  }

  /** Writes the visits that are waiting. */
  async close(): Promise<void> {
    await this.#rounds.close()
    await this.#batch.close()
  }

  /** @returns the URL that a visitor is redirected to; undefined where the programme has no page */
  async lead(visitor: Visitor, { followed, to, campaign }: Arrival): Promise<string | undefined> {
    const { tracking } = await this.settings
    const page = destinationOf(followed?.destination ?? '', tracking)
    if (!page || !followed) return page?.href
    const url = deeper(to, page, tracking)
    if (!followed.active || isPart(visitor.headers)) return url.href
    const from = visitor.headers.referer ?? ''
    const met = await this.#meet(visitor, followed, { campaign, url: url.href, referrer: from }).catch(goOn)
    return met ? withToken(url, met.token) : url.href
  }

  /**
   * The same for a visitor who is on a page of the shop already, as its script reports.
   * @returns the token; undefined when nobody is credited
   */
  async answer(visitor: Visitor, body: string): Promise<string | undefined> {
    const { tracking } = await this.settings
    const parameters = new URLSearchParams(body)
    // From a path it comes as it stands there.
    const ref = unescaped(parameters.get('ref') ?? '')
    const url = parameters.get('url') ?? ''
    const place = placeOf(url, tracking)
    const saw = (outcome: BeaconOutcome, affiliateId = 0) => {
      this.#batch.saw({ place: place ?? '', url: plain(shortened(url)), outcome, affiliateId, time: now() })
    }
    if (place === undefined) {
      saw('other host')
      return undefined
    }
    const followed = isName(ref) ? await this.links.byAffiliate(ref) : undefined
    if (!followed) {
      saw('no affiliate')
      return undefined
    }
    const met = await this.#meet(visitor, followed, {
      campaign: parameters.get('campaign') ?? URL.parse(url)?.searchParams.get('campaign') ?? null,
      url,
      referrer: parameters.get('referrer') ?? '',
    })
    saw(met.counted ? 'counted' : 'not counted', followed.affiliate_id)
    return met.token
  }

  /** A page of the shop has asked for the script. */
  async loaded({ headers: { referer = '' } }: Visitor): Promise<void> {
    const { tracking } = await this.settings
    const place = placeOf(referer, tracking)
    if (place !== undefined && referer !== '') this.#batch.loaded(place, now())
  }

  async #meet(
    visitor: Visitor,
    followed: Followed,
    { campaign, url, referrer }: { campaign: string | null; url: string; referrer: string },
  ): Promise<{ token: string; counted: boolean }> {
    const { token, nonce, time, name } = await this.#sign(followed, campaign)
    const counted = await this.#counts(visitor)
    if (counted) {
      this.#batch.add({
        affiliateId: followed.affiliate_id,
        linkId: followed.id,
        // That of the link is one of few; the token has the name in any case.
        campaign: followed.campaign ? name : this.#names.counted(followed.affiliate_id, name, time),
        url: plain(shortened(url)),
        referrer: plain(shortened(referrer)),
        network: withoutHost(visitor.address),
        userAgent: visitor.headers['user-agent'] ?? '',
        nonce,
        time,
      })
    }
    return { token, counted }
  }

  async #sign(
    { affiliate_id: affiliateId, id: linkId, campaign: own }: Followed,
    sentCampaign: string | null,
  ) {
    const time = now()
    const click = {
      affiliateId,
      linkId,
      campaign: campaignOf(plain(own || (sentCampaign ?? ''))),
      time,
      nonce: newNonce(time),
    }
    const key = this.#key ?? (await inTime(this.#readKey(), UNKNOWN_MS))
    return { token: signClick(click, key), nonce: click.nonce, time: click.time, name: click.campaign }
  }

  #counts({ method, headers, address }: Visitor): boolean | Promise<boolean> {
    if (method === 'HEAD' || isPrefetch(headers) || isProgram(headers['user-agent'])) return false
    return this.#allow(address)
  }

  /** Once for all who wait for it: each of the first visitors would else make a key. */
  #readKey(): Promise<ClickKey> {
    this.#reading ??= this.#newestKey().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #newestKey(): Promise<ClickKey> {
    const { reader } = this.#context.database
    // By a wrong clock it would remove keys whose tokens are in the browsers of visitors.
    let key = isClockDoubtful() ? await currentKey(reader) : undefined
    if (!key) {
      await rotateKeys(this.#context)
      key = await currentKey(reader)
    }
    this.#key = key!
    return this.#key
  }
}

/** A visitor gets to the page also where the database is away, or takes no writes and has no key yet. */
function goOn(error: unknown): undefined {
  if (!(error instanceof DatabaseUnavailable)) throw error
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The page that was asked for, if it is on an allowed host. */
function deeper(to: string | null, page: URL, settings: TrackingSettings): URL {
  return (to === null ? undefined : allowedUrl(to, settings, page.href)) ?? page
}

/**
 * The entry of the settings that a page of the shop belongs to; any page where the settings name no host.
 * @returns undefined when it belongs to none
 */
function placeOf(url: string, tracking: TrackingSettings): string | undefined {
  const places = placesOf(tracking)
  if (places.length === 0) return ''
  const { protocol, host } = URL.parse(url) ?? {}
  if (host === undefined || (protocol !== 'https:' && protocol !== 'http:')) return undefined
  return places.find(allowed => isOn(host, allowed))
}

/** The hosts on which visits count, as the settings name them; none where all do. */
export function placesOf({ page, hosts }: TrackingSettings): readonly string[] {
  const shop = URL.parse(page)?.host
  return shop === undefined ? hosts : [shop, ...hosts]
}

/** Text of a visitor that can be stored: one line, whole characters. */
const plain = (text: string): string => asLine(text.toWellFormed(), '')

/** Whether the text can be a code or a login. */
export const isName = (name: string) => name !== '' && name.length <= NAME_LENGTH && plain(name) === name
