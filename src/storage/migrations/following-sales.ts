import type { Engine } from '../database.ts'

/** Customers who have more purchases to be credited than one transaction should change. */
export function followingSales({ integer, tableOptions }: Engine): string[] {
  return [
    `CREATE TABLE following_sales (
      customer_id ${integer} PRIMARY KEY,
      occurred_at ${integer} NOT NULL,
      conversion_id ${integer} NOT NULL
    ) ${tableOptions}`,
  ]
}
