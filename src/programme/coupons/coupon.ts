/** The kind coupon: a code that credits its affiliate with a sale, without a click. */
import { Type } from 'typebox'
import { line, listOf } from '../../base/schemas.ts'
import { type CrudAction, kind, type RowOf, type TableOf } from '../../records/kind.ts'
import { created, inAnyCase, reference, status, text } from '../../records/kinds-of-field.ts'
import { neither } from '../../storage/table.ts'
import { byAffiliateName } from '../affiliates/name.ts'

const MAX_CODE = 100

const description = 'Code that customers enter in the shop; unique, ignoring case.'

const fields = {
  code: {
    ...text(MAX_CODE, description, neither),
    isName: false,
    filter: inAnyCase(listOf(line(MAX_CODE), 'Only coupons with one of these codes.')),
    create: line(MAX_CODE, description),
    edit: Type.Optional(line(MAX_CODE, 'New code.')),
    problem: (value: string) =>
      value === '' || value.trim() !== value
        ? 'must be a code, without spaces at its beginning or end.'
        : undefined,
    sample: ({ random }: { random: () => number }) =>
      `SAVE-${random().toString(36).slice(2, 10).toUpperCase()}`,
  },
  affiliate_id: {
    ...reference('affiliates', 'The affiliate who is credited.', { person: true, outlives: true }),
    orders: byAffiliateName,
  },
  campaign: text(190, 'The campaign that its sales are counted for.', neither),
  status: status(['active', 'inactive'], 'active', 'Status; an inactive coupon credits nobody.'),
  date: created('created_at', 'When the coupon was created'),
} as const

export const coupon = kind({ name: 'coupon', table: 'coupons', fields, indexed: ['affiliate_id', 'date'] })

export type Coupon = RowOf<typeof fields>

interface CouponsTable extends TableOf<typeof fields> {}

declare module '../../storage/tables.ts' {
  interface Tables {
    coupons: CouponsTable
  }
}

declare module '../../events/schema.ts' {
  interface Actions {
    coupon: CrudAction
  }
}
