/**
 * The link or affiliate behind an address, cached: until the next commit where the engine can tell, else for half a
 * second.
 * See docs/decisions/short-caches.md.
 */
import { type Database, DatabaseUnavailable } from '../../storage/database.ts'
import { type FollowedLink, findActiveAffiliate, findByCode } from '../links/store.ts'
import { inTime, KNOWN_MS, UNKNOWN_MS } from './patience.ts'

const MAX_AGE_MS = 500
const KEPT = 10_000

/** The link or affiliate that a visitor has followed. */
export interface Followed extends FollowedLink {
  /** Whether the affiliate is active, so that the visit counts. */
  readonly active: boolean
}

export type Found = Followed | undefined | Promise<Followed | undefined>

export class FollowedLinks {
  readonly #database: Database
  /** With what is being looked up, once for all who follow it meanwhile. */
  #known = new Map<string, Found>()
  /** What was found last, also longer ago: it counts while the database is away. */
  readonly #found = new Map<string, Followed>()
  #version: number | undefined
  #readAt = 0

  constructor(database: Database) {
    this.#database = database
  }

  /** @returns undefined when no link and no affiliate has the code */
  byCode(code: string): Found {
    return this.#find(`r ${code}`, async () => {
      const { reader } = this.#database
      const row = await findByCode(reader, code)
      if (row) return { ...row, active: row.status === 'active' }
      return /^\d+$/.test(code) ? this.#named(code) : undefined
    })
  }

  /** @param name the identifier of an affiliate, or the login of the account */
  byAffiliate(name: string): Found {
    return this.#find(`a ${name}`, () => this.#named(name))
  }

  async #named(name: string): Promise<Followed | undefined> {
    const id = await findActiveAffiliate(this.#database.reader, name)
    return id === undefined
      ? undefined
      : { id: 0, affiliate_id: id, destination: '', campaign: '', active: true }
  }

  #find(key: string, look: () => Promise<Followed | undefined>): Found {
    const last = this.#found.get(key)
    try {
      this.#refresh()
    } catch (error) {
      return orLast(error, last)
    }
    const cache = this.#known
    if (cache.has(key)) return cache.get(key)
    const finding = inTime(look(), last ? KNOWN_MS : UNKNOWN_MS).then(
      followed => {
        // Addresses that do not exist are not cached: who asks for them tries a different one each time.
        if (followed && cache.size <= KEPT) cache.set(key, followed)
        else cache.delete(key)
        this.#remember(key, followed)
        return followed
      },
      error => {
        cache.delete(key)
        return orLast(error, last)
      },
    )
    if (cache.size < KEPT) cache.set(key, finding)
    return finding
  }

  #remember(key: string, followed: Followed | undefined): void {
    this.#found.delete(key)
    if (!followed) return
    if (this.#found.size >= KEPT) this.#found.delete(this.#found.keys().next().value!)
    this.#found.set(key, followed)
  }

  #refresh(): void {
    const version = this.#database.version?.()
    const isOld =
      version === undefined ? performance.now() - this.#readAt > MAX_AGE_MS : version !== this.#version
    if (!isOld) return
    // A new map, so that look-ups under way end up in the old one.
    this.#known = new Map()
    this.#version = version
    this.#readAt = performance.now()
  }
}

/** What was found last, where the database is away. */
function orLast(error: unknown, last: Followed | undefined): Followed {
  if (!last || !(error instanceof DatabaseUnavailable)) throw error
  return last
}
