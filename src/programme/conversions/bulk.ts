/** Batches of conversions (NDJSON): a line that fails does not stop the others. */
import { Type } from 'typebox'
import { Failure } from '../../base/errors.ts'
import { createLines } from '../../http/create-lines.ts'
import { type Endpoint, endpoint } from '../../http/endpoint.ts'
import { type Referral, referral } from '../referrals/referral.ts'
import { conversion } from './conversion.ts'
import type { Story } from './explanation.ts'
import { Payments } from './payments.ts'
import { type Created, create, problems } from './rules.ts'
import { type CreateArguments, createArguments } from './schema.ts'
import { earnersIn } from './sold.ts'
import { createMany, lockAll } from './together.ts'

/** Of the conversion, and of the sale and the lead of its payment; every other refund of it was answered by its own line. */
function referralsBeside({ conversion: { id: ownId }, payment, referrals }: Story): Referral[] {
  const ids = new Set([ownId, ...earnersIn(payment).map(({ id }) => id)])
  return referrals.filter(({ conversion_id }) => ids.has(conversion_id))
}

export const reportLines = createLines<Created>({
  arguments: createArguments,
  result: { conversion: conversion.record, referrals: Type.Array(referral.record) },
  problems,
  create: (context, args: CreateArguments, payments?: Payments) =>
    create(context, args, payments && { payments }),
  createMany,
  lockAll,
  share: () => new Payments(),
  tell: ({ replayed, ...story }, settings) => {
    const row = story.conversion
    const referralsText = referralsBeside(story)
      .map(one => referral.write(one, settings))
      .join()
    return {
      members: `"conversion":${conversion.write(row, settings)},"referrals":[${referralsText}]`,
      replayed,
    }
  },
})

/** The endpoint for lines. Reporting one conversion takes lines as well. */
export const reportMany: Endpoint = endpoint({
  methods: ['POST'],
  path: '/conversions/bulk',
  permission: 'conversions.create',
  summary: 'Report many conversions',
  arguments: createArguments,
  answer: { status: 200, schema: { type: 'string' } },
  lines: reportLines,
  onlyLines: true,
  handle: async () => {
    throw new Failure('unsupported_media_type')
  },
})
