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

/** Identifiers of customers in each shop. */
export const customerNamesTable = {
  name: 'customer_names',
  key: ['context', 'name'],
  columns: customerNameColumns,
  copied: 'rows',
} as const satisfies Table

interface PaymentNamesTable extends RowsOf<typeof paymentNameColumns> {}
interface CustomerNamesTable extends RowsOf<typeof customerNameColumns> {}

declare module '../../storage/tables.ts' {
  interface Tables {
    payment_names: PaymentNamesTable
    customer_names: CustomerNamesTable
  }
}
