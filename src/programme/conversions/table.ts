import { integer, neither, type RowsOf, type Table, text } from '../../storage/table.ts'

const ofBuyer = { personal: 'keep', money: false } as const

const paymentNameColumns = {
  context: text(neither),
  name: text(ofBuyer),
  /** Random. Names with the same value belong to one payment. */
  payment_id: text(neither),
} as const

/** Names of payments: order, session, charge and invoice may name the same payment. */
export const paymentNamesTable = {
  name: 'payment_names',
  key: ['context', 'name'],
  columns: paymentNameColumns,
  copied: 'rows',
} as const satisfies Table

const customerNameColumns = {
  context: text(neither),
  name: text(ofBuyer),
  customer_id: integer({
    ...neither,
    references: { table: 'customers', person: true, outlives: true },
  }),
} as const

/** Identifiers of customers in each shop: one may be an e-mail address. */
export const customerNamesTable = {
  name: 'customer_names',
  key: ['context', 'name'],
  columns: customerNameColumns,
  copied: 'rows',
  removedWithPerson: true,
} as const satisfies Table

const followingColumns = {
  customer_id: integer({ ...neither, references: { table: 'customers', person: true, outlives: true } }),
  occurred_at: integer(neither),
  conversion_id: integer(neither),
} as const

/** Of customers with many purchases that are to be credited: the last one that is done. */
export const followingSalesTable = {
  name: 'following_sales',
  key: ['customer_id'],
  columns: followingColumns,
  copied: 'rows',
} as const satisfies Table

interface PaymentNamesTable extends RowsOf<typeof paymentNameColumns> {}
interface CustomerNamesTable extends RowsOf<typeof customerNameColumns> {}
interface FollowingSalesTable extends RowsOf<typeof followingColumns> {}

declare module '../../storage/tables.ts' {
  interface Tables {
    payment_names: PaymentNamesTable
    customer_names: CustomerNamesTable
    following_sales: FollowingSalesTable
  }
}
