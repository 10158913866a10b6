/** The kind link: a short address by which an affiliate leads visitors to a page of the shop. */
import { Type } from 'typebox'
import { code, line, listOf } from '../../base/schemas.ts'
import type { Settings } from '../../base/settings.ts'
import { type CrudAction, kind, type RowOf, type TableOf } from '../../records/kind.ts'
import {
  anyOf,
  count,
  created,
  creator,
  inAnyCase,
  reference,
  text,
  words,
} from '../../records/kinds-of-field.ts'
import { neither } from '../../storage/table.ts'
import { byAffiliateName } from '../affiliates/name.ts'
import { campaignOf } from '../tracking/token.ts'
import { allowedUrl } from './destination.ts'

const MAX_URL = 2048
const CODE = 'Last part of its URL, /r/CODE; case is ignored.'
const DESTINATION =
  'URL of the page that it leads to, on a host that the settings allow; empty for the programme page.'
const CAMPAIGN = 'The campaign that its visits belong to.'

/** Whether a code is that of a default link: the identifier of its affiliate. */
export const isDefault = (code: string): boolean => /^\d+$/.test(code)

const fields = {
  affiliate_id: {
    ...reference('affiliates', 'The affiliate whose link it is.', { person: true, outlives: true }),
    orders: byAffiliateName,
  },
  code: {
    ...text(64, CODE, neither),
    isName: false,
    filter: inAnyCase(listOf(line(64), 'Only links with one of these codes.')),
    create: Type.Optional(code(CODE)),
    edit: Type.Optional(code(CODE)),
    sample: ({ random }: { random(): number }) => `s${random().toString(36).slice(2, 12)}`,
  },
  destination: {
    ...words(line(MAX_URL), DESTINATION, neither),
    order: 'beginning',
    problem: (value: string, { tracking }: Settings) =>
      value === '' || allowedUrl(value, tracking)
        ? undefined
        : 'must be a URL on the host of the programme page or on an allowed host of the settings, or empty.',
  },
  campaign: {
    ...words(line(100), CAMPAIGN, neither),
    filter: anyOf(listOf(line(100), 'Only links with one of these campaigns.')),
    problem: (value: string) =>
      campaignOf(value) === value ? undefined : 'must have at most 100 bytes in UTF-8.',
  },
  visits: count('Number of visits through the link.'),
  date: created('created_at', 'When the link was created'),
  owner: creator('The account that created the link.'),
} as const

export const link = kind({
  name: 'link',
  table: 'links',
  fields,
  indexed: ['affiliate_id'],
  unlogged: ['visits'],
})

export type Link = RowOf<typeof fields>

interface LinksTable extends TableOf<typeof fields> {}

declare module '../../storage/tables.ts' {
  interface Tables {
    links: LinksTable
  }
}

declare module '../../events/schema.ts' {
  interface Actions {
    link: CrudAction
  }
}
