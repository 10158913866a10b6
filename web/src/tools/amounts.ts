/** Names of values in the log that are amounts; a test compares them with the kinds of record. */
export const amounts: ReadonlySet<string> = new Set([
  'amount',
  'discount',
  'earnings',
  'minimum',
  'order_total',
  'shipping',
  'tax',
  'unpaid_earnings',
])
