import type { Settings } from '../../base/settings.ts'
import {
  type Answer,
  type Call,
  CREATE,
  createdAnswer,
  type Endpoint,
  endpoint,
  type Resource,
} from '../../http/endpoint.ts'
import { listingOf, readOnly } from '../../records/crud.ts'
import { createGathered } from '../../records/gathered.ts'
import { referral } from '../referrals/referral.ts'
import { reportLines, reportMany } from './bulk.ts'
import { refusedFor } from './claims.ts'
import { conversion } from './conversion.ts'
import { explain, type Story } from './explanation.ts'
import { create, problems, reading } from './rules.ts'
import {
  type CreateArguments,
  createArguments,
  createdSchema,
  explanationSchema,
  timelineSchema,
} from './schema.ts'
import { story, storyWithRelated } from './story.ts'
import { timelineOf } from './timeline.ts'
import { createMany } from './together.ts'

async function explained(call: Call, story: Story, settings: Settings): Promise<string> {
  const refused = await refusedFor(call.database.reader, story.conversion, story.payment)
  return JSON.stringify(explain(story, refused, settings))
}

/** The conversion, its referrals, and the reasons. */
async function bodyOf(call: Call, story: Story, settings: Settings): Promise<string> {
  const referrals = story.referrals.map(row => referral.write(row, settings)).join()
  const explanation = await explained(call, story, settings)
  return `{"conversion":${conversion.write(story.conversion, settings)},"referrals":[${referrals}],"explanation":${explanation}}`
}

async function answer(call: Call, args: CreateArguments): Promise<Answer> {
  const { created, settings } = await createGathered(conversion.name, call, args, { create, createMany })
  const body = await bodyOf(call, created, settings)
  if (created.replayed) return { status: 200, headers: { 'Idempotent-Replayed': 'true' }, body }
  return { status: 201, headers: { Location: `${call.collectionUrl}/${created.conversion.id}` }, body }
}

const report: Endpoint = endpoint({
  methods: CREATE,
  path: '/conversions',
  permission: 'conversions.create',
  summary: 'Report a conversion',
  arguments: createArguments,
  answer: { ...createdAnswer(createdSchema), repeats: true },
  failures: ['conversion_exists', 'conversion_conflict', 'reference_taken'],
  lines: reportLines,
  check: problems,
  handle: answer,
})

const explanation: Endpoint = endpoint({
  methods: ['GET'],
  path: '/conversions/{conversion_id}/explanation',
  permission: 'conversions.read',
  summary: 'Explain a conversion',
  arguments: conversion.item,
  answer: { status: 200, schema: explanationSchema },
  failures: ['no_conversion'],
  handle: async (call, { conversion_id: id }) => ({
    status: 200,
    body: await explained(call, await story(call, id), await call.settings.current()),
  }),
})

const timeline: Endpoint = endpoint({
  methods: ['GET'],
  path: '/conversions/{conversion_id}/timeline',
  permission: 'conversions.read',
  summary: 'Get the timeline of a conversion',
  arguments: conversion.item,
  answer: { status: 200, schema: timelineSchema },
  failures: ['no_conversion'],
  handle: async (call, { conversion_id: id }) => {
    const { related, ...whole } = await storyWithRelated(call, id)
    return { status: 200, body: JSON.stringify(timelineOf(whole, related, await call.settings.current())) }
  },
})

const plain = readOnly(conversion, reading)

export const conversions: Resource = {
  ...plain,
  endpoints: [...plain.endpoints, report, reportMany, explanation, timeline],
}

export const listing = listingOf(conversion, reading)
