/** The kind visit: somebody came through an affiliate's link. */
import { Type } from 'typebox'
import { clientIn, withoutHost } from '../../base/network.ts'
import { identifiers, line, listOf } from '../../base/schemas.ts'
import { kind, type RowOf, type TableOf } from '../../records/kind.ts'
import {
  anyOf,
  context,
  dated,
  elsewhere,
  link,
  reference,
  whether,
  words,
} from '../../records/kinds-of-field.ts'
import { internalNumber, internalText } from '../../records/service-fields.ts'
import { neither } from '../../storage/table.ts'
import { byAffiliateName } from '../affiliates/name.ts'
import { MAX_CAMPAIGN, shortened, withoutAffiliate } from './url.ts'

/** More than any address that a browser follows, or any name: it is cut, for the visit counts all the same. */
const MAX_SENT = 65_535
/** The addresses of some proxies. */
const MAX_SENT_ADDRESS = 255

/** About the visitor, so the erasure of the affiliate leaves it. */
const ofVisitor = { personal: 'keep', money: false } as const

const affiliate = reference('affiliates', 'The affiliate whose link was followed.', {
  person: true,
  outlives: true,
})

const CAMPAIGN = 'The campaign of the link.'

const address = (description: string) =>
  ({
    ...words(
      line(MAX_SENT, `${description} Only the first 2,048 characters are stored.`),
      description,
      ofVisitor,
    ),
    order: 'beginning',
    folded: true,
    keep: shortened,
  }) as const

const fields = {
  affiliate_id: { ...affiliate, orders: byAffiliateName },
  referral_id: {
    ...link('The referral that it led to'),
    filters: {
      referral_status: whether(
        'converted',
        'unconverted',
        'Only visits that led to a referral, or only visits that did not.',
      ),
    },
  },
  rest_id: elsewhere,
  url: {
    ...address(
      'URL of the page that was visited, without the part that names the affiliate (?ref=… or /ref/…).',
    ),
    keep: (url: string) => shortened(withoutAffiliate(url)),
  },
  referrer: address('URL of the referring page; empty if unknown.'),
  campaign: {
    ...words(line(MAX_CAMPAIGN), CAMPAIGN, neither),
    create: Type.Optional(
      Type.String({
        ...line(
          MAX_SENT,
          `${CAMPAIGN} Percent-encoding (%20) is decoded, and only the first ${MAX_CAMPAIGN} characters are stored.`,
        ),
        default: '',
      }),
    ),
    filter: anyOf(listOf(line(MAX_CAMPAIGN), 'Only visits from one of these campaigns.')),
  },
  context: context('Where the visit comes from, such as the shop; stored in lower case.', ['visit_context']),
  ip: {
    ...words(
      line(MAX_SENT_ADDRESS),
      "Network of the visitor's IP address: only its first 24 bits are stored, or 48 for IPv6.",
      ofVisitor,
    ),
    searched: true,
    keep: (value: string) => {
      const address = clientIn(value)
      return address ? withoutHost(address) : ''
    },
    problem: (value: string) =>
      clientIn(value) === undefined ? 'must be an IPv4 or IPv6 address, or empty.' : undefined,
  },
  date: dated('created_at', 'When the visit took place'),
  /** The link that was followed; 0 when the address named the affiliate. */
  link_id: {
    ...internalNumber({ ...neither, secret: true }),
    filters: { link_id: anyOf(identifiers('Only visits through one of these links.')) },
  },
  /** The nonce of its click token; empty when there is none. */
  nonce: internalText({ ...neither, secret: true }),
  /** 1 when the same visitor had come by the same affiliate on the same day. */
  repeated: internalNumber({ ...neither, secret: true }),
} as const

/** Only changes by hand are logged; new visits count in the affiliate's figure. */
const actions = ['edit', 'delete'] as const

export const visit = kind({
  name: 'visit',
  table: 'visits',
  fields,
  indexed: ['affiliate_id', 'date'],
  hasDayIndex: true,
  idLast: true,
  actions,
  internal: true,
})

export type Visit = RowOf<typeof fields>

interface VisitsTable extends TableOf<typeof fields> {}

declare module '../../storage/tables.ts' {
  interface Tables {
    visits: VisitsTable
  }
}

declare module '../../events/schema.ts' {
  interface Actions {
    visit: (typeof actions)[number]
  }
}
