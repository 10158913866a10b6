/** Names of campaigns that visitors bring: anybody can send any, and each is a sum of its day that stays. */
import { dayOf } from '../../base/time.ts'

const MOST_OF_AFFILIATE = 1000
/** All are held in memory for a day. */
const MOST = 50_000

export class CampaignNames {
  readonly #ofAffiliates = new Map<number, Set<string>>()
  #count = 0
  #day = 0

  /**
   * @param time in seconds
   * @returns the name that a visit is counted under: none, where its affiliate has too many on this day
   */
  counted(affiliateId: number, name: string, time: number): string {
    const day = dayOf(time)
    if (day !== this.#day) {
      this.#ofAffiliates.clear()
      this.#count = 0
      this.#day = day
    }
    const names = this.#ofAffiliates.get(affiliateId) ?? new Set()
    if (name === '' || names.has(name)) return name
    if (names.size >= MOST_OF_AFFILIATE || this.#count >= MOST) return ''
    this.#ofAffiliates.set(affiliateId, names.add(name))
    this.#count += 1
    return name
  }
}
