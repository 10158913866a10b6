import { formatTime } from '../../base/time.ts'
import type { Context } from '../../events/write.ts'
import { scriptPages } from '../../programme/tracking/store.ts'
import { placesOf } from '../../programme/tracking/tracking.ts'
import type { CampaignList, TrackingStatus } from './schema.ts'
import { campaignsOfLatest } from './store.ts'

const timeText = (seconds: number) => (seconds === 0 ? '' : formatTime(seconds))

export async function statusOf({ database, settings }: Context): Promise<TrackingStatus> {
  const { tracking } = await settings.current()
  // What was seen on a host before it was taken out of the settings says nothing of now.
  const places = ['', ...placesOf(tracking)]
  const rows = await scriptPages(database.reader)
  const standing = rows.filter(({ place }) => places.includes(place))
  return {
    pages: standing.map(({ place, loaded_at, seen_at, counted_at, url, outcome, affiliate_id }) => ({
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
