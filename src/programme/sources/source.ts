/** The kind source: a shop or payment provider that reports conversions, and how its payloads are read. */
import { Type } from 'typebox'
import { problemOfJson } from '../../base/json.ts'
import { choice, line, secret } from '../../base/schemas.ts'
import { type CrudAction, kind, type RowOf, type TableOf } from '../../records/kind.ts'
import { context, created, creator, status, text, words } from '../../records/kinds-of-field.ts'
import { neither } from '../../storage/table.ts'
import { problemOfMapping } from './generic.ts'

const types = ['stripe', 'woocommerce', 'generic'] as const
type SourceType = (typeof types)[number]

const MIN_SECRET = 8
const MAX_MAPPING = 10_000

const signing = (description: string) => Type.String({ ...secret(255, description), minLength: MIN_SECRET })

const fields = {
  name: text(100, 'Name of the source.', neither),
  type: {
    type: 'text',
    nullable: false,
    ...neither,
    wire: choice(types, 'Type of sender whose deliveries the source accepts.'),
    create: choice(types, 'Type of sender whose deliveries the source accepts.'),
    initial: 'generic',
    show: (value: SourceType) => value,
    keep: (value: SourceType) => value,
    sample: () => 'generic' as const,
  },
  context: context(
    'The shop whose conversions it reports; stored in lower case. Give each shop its own, because order and customer numbers count within it.',
  ),
  status: status(['active', 'inactive'], 'active'),
  mode: status(
    ['live', 'test'],
    'live',
    'For Stripe: whether the source takes live events, or those of test mode and sandboxes.',
  ),
  /** Never shown: verifies deliveries. The store seals it; empty in the demo, whose sources take none. */
  secret: {
    type: 'text',
    nullable: false,
    ...neither,
    secret: true,
    create: signing('Secret with which the sender signs; it is never shown again.'),
    edit: Type.Optional(signing('New secret.')),
    initial: '',
    show: (value: string) => value,
    keep: (value: string) => value,
    sample: () => '',
  },
  secret_date: { ...created('secret_at', 'When the secret was set'), filters: {} },
  signature_header: {
    ...words(line(100), 'For generic sources: name of the header that contains the signature.', neither),
    create: Type.Optional({
      ...line(
        100,
        'For generic sources: name of the header that contains the HMAC-SHA256 of the body, in hex or Base64.',
      ),
      default: 'X-Signature',
    }),
    initial: 'X-Signature',
    keep: (value: string) => value.toLowerCase(),
  },
  mapping: {
    type: 'text',
    nullable: false,
    ...neither,
    wire: Type.Unknown({ description: 'For generic sources: where each argument of a conversion is found.' }),
    create: Type.Optional(
      Type.Unknown({
        description:
          'For generic sources: for each argument of a conversion, a JSON pointer into the delivery (/order/total), or a constant value.',
      }),
    ),
    edit: Type.Optional(Type.Unknown({ description: 'New mapping.' })),
    order: false,
    initial: '{}',
    show: (value: string): unknown => JSON.parse(value),
    json: (value: string) => value,
    keep: (value: unknown) => JSON.stringify(value),
    problem: (value: unknown) => problemOfJson(value, MAX_MAPPING) ?? problemOfMapping(value),
    sample: () => '{}',
  },
  /** The last delivery that could not be accepted, and when; empty when there was none. */
  problem: {
    type: 'text',
    nullable: false,
    ...neither,
    wire: Type.String({
      description:
        'The last delivery that was not accepted, or only in part, with the reason and the time (UTC); empty if there was none.',
    }),
    order: false,
    initial: '',
    show: (value: string) => value,
    sample: () => '',
  },
  date: created('created_at', 'When the source was set up'),
  owner: creator('The account that set up the source.'),
} as const

export const source = kind({ name: 'source', table: 'sources', fields })

export type Source = RowOf<typeof fields>

interface SourcesTable extends TableOf<typeof fields> {}

declare module '../../storage/tables.ts' {
  interface Tables {
    sources: SourcesTable
  }
}

declare module '../../events/schema.ts' {
  interface Actions {
    source: CrudAction
  }
}
