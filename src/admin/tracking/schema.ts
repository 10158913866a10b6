import { type Static, Type } from 'typebox'

const page = Type.Object({
  host: Type.String({ description: 'A host from the settings; empty for all others.' }),
  loaded: Type.String({ description: 'When one of its pages last loaded the script; empty if never.' }),
  seen: Type.String({ description: 'When the script last sent something; empty if never.' }),
  last_counted: Type.String({
    description: 'When something that it sent was last counted as a visit; empty if never.',
  }),
  url: Type.String({ description: 'The page from which it last sent something.' }),
  outcome: Type.String({
    description: 'Outcome: counted, not counted, no affiliate, or other host.',
  }),
  affiliate_id: Type.Integer({ description: 'The affiliate whom the page named; 0 if there is none.' }),
})

const campaign = Type.Object({
  affiliate_id: Type.Integer(),
  campaign: Type.String({ description: 'Name of the campaign; empty for visits without one.' }),
  visits: Type.Integer({ description: 'Number of visits.' }),
  visitors: Type.Integer({ description: 'Number of visits that were the first of a visitor on a day.' }),
  converted: Type.Integer({ description: 'Number of visits that led to a referral.' }),
})

/** The campaigns with the most visits, among the latest ones. */
export const campaignList = Type.Object({
  latest: Type.Integer({ description: 'Maximum number of latest visits that were evaluated.' }),
  campaigns: Type.Array(campaign),
})

export type CampaignList = Static<typeof campaignList>

/** Tracking status: whether the script works on the shop's pages. */
export const trackingStatus = Type.Object({
  pages: Type.Array(page, { description: 'Activity of the script, by host.' }),
})

export type TrackingStatus = Static<typeof trackingStatus>
