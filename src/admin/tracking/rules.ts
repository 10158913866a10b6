import { formatTime } from '../../base/time.ts'
import type { Context } from '../../events/write.ts'
import { scriptPages } from '../../programme/tracking/store.ts'
import type { CampaignList, TrackingStatus } from './schema.ts'
import { campaignsOfLatest } from './store.ts'

const timeText = (seconds: number) => (seconds === 0 ? '' : formatTime(seconds))

export async function statusOf({ database }: Context): Promise<TrackingStatus> {
  const rows = await scriptPages(database.reader)
  return {
    pages: rows.map(({ place, loaded_at, seen_at, counted_at, url, outcome, affiliate_id }) => ({
      host: place,
      loaded: timeText(loaded_at),
      seen: timeText(seen_at),
      last_counted: timeText(counted_at),
      url,
      outcome,
      affiliate_id,
    })),
  }
}

const LATEST = 200_000

export async function campaignsOf({ database }: Context): Promise<CampaignList> {
  return { latest: LATEST, campaigns: await campaignsOfLatest(database.reader, LATEST) }
}
