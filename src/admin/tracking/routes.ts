import { Type } from 'typebox'
import { endpoint, type Resource } from '../../http/endpoint.ts'
import { campaignsOf, statusOf } from './rules.ts'
import { campaignList, trackingStatus } from './schema.ts'

/** Tracking status: whether the script works on the shop's pages. */
export const tracking: Resource = {
  name: 'tracking',
  title: 'Tracking',
  record: trackingStatus,
  missing: 'no_route',
  endpoints: [
    endpoint({
      methods: ['GET'],
      path: '/tracking',
      permission: 'tracking.read',
      summary: "Show the activity of the script on the shop's pages",
      arguments: Type.Object({}),
      answer: { status: 200, schema: trackingStatus },
      handle: async call => ({ status: 200, body: JSON.stringify(await statusOf(call)) }),
    }),
    endpoint({
      methods: ['GET'],
      path: '/tracking/campaigns',
      permission: 'tracking.read',
      summary: 'List the campaigns of the latest visits',
      arguments: Type.Object({}),
      answer: { status: 200, schema: campaignList },
      handle: async call => ({ status: 200, body: JSON.stringify(await campaignsOf(call)) }),
    }),
  ],
}
