/** Statuses and methods of payout runs. Pure, and also used in the browser. */

export const runStatuses = ['draft', 'approving', 'approved', 'sent', 'closed', 'cancelled'] as const

export const methods = ['csv', 'paypal', 'sepa', 'nacha'] as const

export const itemStatuses = [
  'included',
  'excluded',
  'reserved',
  'paid',
  'failed',
  'returned',
  'unknown',
] as const
