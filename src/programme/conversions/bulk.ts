/** Many conversions by one request, a line each (NDJSON). A line that fails stops no other. */
import { Type } from 'typebox'
import { Failure } from '../../base/errors.ts'
import { linesOf } from '../../http/create-lines.ts'
import { type Endpoint, endpoint } from '../../http/endpoint.ts'
import { referral } from '../referrals/referral.ts'
import { conversion } from './conversion.ts'
import { type Created, create, problems } from './rules.ts'
import { createArguments } from './schema.ts'
import { createMany } from './together.ts'

export const reportLines = linesOf<Created>({
  arguments: createArguments,
  result: { conversion: conversion.record, referrals: Type.Array(referral.record) },
  problems,
  create,
  createMany,
  tell: ({ conversion: row, referrals, replayed }, settings) => {
    const referralsText = referrals.map(row => `${referral.write(row, settings)}}`).join()
    return {
      members: `"conversion":${conversion.write(row, settings)}},"referrals":[${referralsText}]`,
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
