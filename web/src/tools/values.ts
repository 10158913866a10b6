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

/** Names of values in the log that are times or days; a test compares them as well. */
export const times = /^date|_date$|from$|until$|_at$|^cut_off$/
