import { type Static, Type } from 'typebox'

const page = Type.Object({
  host: Type.String({ description: 'A host of the settings; empty stands for all others.' }),
  loaded: Type.String({ description: 'When a page of it has loaded the script last; empty is never.' }),
  seen: Type.String({ description: 'When the script has sent something last; empty is never.' }),
  last_counted: Type.String({
    description: 'When something that it has sent was last counted as a visit; empty is never.',
  }),
  url: Type.String({ description: 'The page that it sent it from.' }),
  outcome: Type.String({
    description: 'What became of it: counted, not counted, no affiliate, or other host.',
  }),
  affiliate_id: Type.Integer({ description: 'The affiliate whom the page named; 0 when there is none.' }),
})

const campaign = Type.Object({
  affiliate_id: Type.Integer(),
  campaign: Type.String({ description: 'Its name; empty stands for visits without one.' }),
  visits: Type.Integer({ description: 'How many visits.' }),
  visitors: Type.Integer({ description: 'How many of them were the first of a visitor on a day.' }),
  converted: Type.Integer({ description: 'How many led to a referral.' }),
})

/** The campaigns with the most visits, among the latest ones. */
export const campaignList = Type.Object({
  latest: Type.Integer({ description: 'How many of the latest visits were looked at, at most.' }),
  campaigns: Type.Array(campaign),
})

export type CampaignList = Static<typeof campaignList>

/** Tracking status: whether the script works on the shop's pages. */
export const trackingStatus = Type.Object({
  pages: Type.Array(page, { description: 'What was seen of the script, by host.' }),
})

export type TrackingStatus = Static<typeof trackingStatus>
