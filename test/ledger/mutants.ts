/** Faults in the rules, each of which generated histories must find. */
export interface Mutant {
  readonly what: string
  /** Below src/programme. */
  readonly file: string
  readonly from: string
  readonly to: string
}

const holdings = 'ledger/holdings.ts'
const posting = 'ledger/rules.ts'
const referrals = 'referrals/rules.ts'
const paying = 'payouts/paying.ts'
const payouts = 'payouts/rules.ts'

export const mutants: readonly Mutant[] = [
  {
    what: 'a pending referral counts as unpaid',
    file: holdings,
    from: "=== 'pending') return 'pending'",
    to: "=== 'pending') return 'unpaid'",
  },
  {
    what: 'what was paid by hand stands where payouts pay to',
    file: holdings,
    from: "earning.payout_id === 0 ? 'external' : 'paid_out'",
    to: "'paid_out'",
  },
  {
    what: 'a write-off is a commission',
    file: holdings,
    from: "type === 'write_off' ? 'written_off' : 'commission'",
    to: "'commission'",
  },
  { what: 'refunds are counted', file: holdings, from: ' && !isCorrection(earning.type)', to: '' },
  { what: 'a raise lowers', file: holdings, from: 'amount: holds - held', to: 'amount: held - holds' },
  {
    what: 'a change of amount is posted twice',
    file: holdings,
    from: 'to, amount: held }',
    to: 'to, amount: holds }',
  },
  {
    what: 'one that is given to another affiliate stays with the first',
    file: holdings,
    from: 'before.affiliate_id === after.affiliate_id &&',
    to: '',
  },
  {
    what: 'every rest comes from elsewhere',
    file: holdings,
    from: 'beyond > 0n && external ?',
    to: 'external ?',
  },
  {
    what: 'a failed payout has a rest',
    file: holdings,
    from: "if (status !== 'paid') return undefined",
    to: '',
  },
  {
    what: 'what goes back and forth adds up',
    file: holdings,
    from: '(from === move.from ? move.amount : -move.amount)',
    to: 'move.amount',
  },
  {
    what: 'the rest of before is added again',
    file: holdings,
    from: 'amount: -transferBefore.amount',
    to: 'amount: transferBefore.amount',
  },
  { what: 'a balance grows by what leaves it', file: posting, from: 'from, -amount)', to: 'from, amount)' },
  {
    what: 'a difference counts as earned',
    file: posting,
    from: "'external', 'difference']",
    to: "'external']",
  },
  {
    what: 'a referral that goes stays counted',
    file: posting,
    from: ' - countFor(id, before)',
    to: '',
  },
  {
    what: 'a paid referral is changed',
    file: referrals,
    from: 'before.payout_id !== 0',
    to: 'before.payout_id < 0',
  },
  {
    what: 'what was paid by hand is rejected',
    file: referrals,
    from: "paid: ['unpaid']",
    to: "paid: ['unpaid', 'rejected']",
  },
  {
    what: 'what is deleted stays in the ledger',
    file: referrals,
    from: "'referral.delete', { before }",
    to: "'referral.delete', { before, after: before }",
  },
  {
    what: 'what a payout names is decided anew each time',
    file: paying,
    from: 'before?.names.get(name) ?? referrals.has(name)',
    to: 'referrals.has(name)',
  },
  {
    what: 'a failed payout pays',
    file: paying,
    from: "after?.status === 'paid' && after",
    to: 'after && after',
  },
  { what: 'a payout takes money', file: paying, from: 'net < 0n &&', to: 'false &&' },
  {
    what: "another affiliate's referral is paid",
    file: paying,
    from: 'row.affiliate_id !== affiliateId',
    to: 'false',
  },
  {
    what: 'what is given back stays paid',
    file: paying,
    from: "returned, { status: 'unpaid'",
    to: "returned, { status: 'paid'",
  },
  { what: 'a payout forgets what it paid', file: paying, from: '? BigInt(row.amount) : 0n', to: '? 0n : 0n' },
  { what: 'a deleted affiliate is paid without being owed', file: payouts, from: '<= 0n', to: '< 0n' },
]
