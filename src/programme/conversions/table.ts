import { integer, neither, type RowsOf, type Table, text } from '../../storage/table.ts'

const ofBuyer = { personal: 'keep', money: false } as const

const paymentNameColumns = {
  context: text(neither),
  name: text(ofBuyer),
  /** Random; names that have the same are names of one payment. */
  payment_id: text(neither),
} as const

/** Every name of every payment: the numbers of order, session, charge and invoice are one payment's. */
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

/** What each shop calls a customer. */
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
