/**
 * Which link or affiliate a visitor came by, looked up once for many: for as long as nothing was committed where the
 * engine can tell, else for half a second.
 * See docs/decisions/short-caches.md.
 */
import type { Database } from '../../storage/database.ts'
import { type FollowedLink, findActiveAffiliate, findByCode } from '../links/store.ts'

const MAX_AGE_MS = 500
const KEPT = 10_000

/** What a visitor came by. */
export interface Followed extends FollowedLink {
  /** Whether the affiliate is active, so that the visit counts. */
  readonly active: boolean
}

export class FollowedLinks {
  readonly #database: Database
  #known = new Map<string, Followed | undefined>()
  #version: number | undefined
  #readAt = 0

  constructor(database: Database) {
    this.#database = database
  }

  /** @returns undefined when no link and no affiliate has the code */
  byCode(code: string): Followed | undefined | Promise<Followed | undefined> {
    return this.#find(`r ${code}`, async () => {
      const { reader } = this.#database
      const row = await findByCode(reader, code)
      if (row) return { ...row, active: row.status === 'active' }
      return /^\d+$/.test(code) ? this.#named(code) : undefined
    })
  }

  /** @param name the identifier of an affiliate, or the login of the account */
  byAffiliate(name: string): Followed | undefined | Promise<Followed | undefined> {
    return this.#find(`a ${name}`, () => this.#named(name))
  }

  async #named(name: string): Promise<Followed | undefined> {
    const id = await findActiveAffiliate(this.#database.reader, name)
    return id === undefined
      ? undefined
      : { id: 0, affiliate_id: id, destination: '', campaign: '', active: true }
  }

  #find(key: string, look: () => Promise<Followed | undefined>) {
    this.#refresh()
    const known = this.#known
    if (known.has(key)) return known.get(key)
    return look().then(found => {
      // Those who ask for what is not there ask for something else each time.
      if (found && known.size < KEPT) known.set(key, found)
      return found
    })
  }

  #refresh(): void {
    const version = this.#database.version?.()
    const isOld =
      version === undefined ? performance.now() - this.#readAt > MAX_AGE_MS : version !== this.#version
    if (!isOld) return
    // Another map, so that what is still being looked up ends in the old one.
    this.#known = new Map()
    this.#version = version
    this.#readAt = performance.now()
  }
}
