import { type Static, Type } from 'typebox'
import { choice, identifier, identifiers, line, listOf, moment, span } from '../../base/schemas.ts'
import { accounts } from './holdings.ts'

const affiliate = { affiliate_id: identifier('Identifier of the affiliate, who may have been deleted.') }

export const balancesArguments = Type.Object({
  ...affiliate,
  as_of: Type.Optional(
    moment('Returns the balances at the end of this day or second, UTC; now when omitted.'),
  ),
})

export type BalancesArguments = Static<typeof balancesArguments>

const meanings: Record<(typeof accounts)[number], string> = {
  commission: 'Where earnings come from: negative, by the sum of all earnings.',
  pending: 'Earned, but not approved yet.',
  unpaid: 'Approved, and still to be paid.',
  reserved: 'Reserved by an approved payout run.',
  paid_out: 'Paid by payouts.',
  external: 'Marked as paid by hand, less what payouts paid for another system.',
  difference: 'Amount by which payouts fall short of their referrals; negative if they exceed them.',
  written_off: 'Where write-offs come from and go to.',
}

/** What came into each account less what went out. */
export const balancesRecord = Type.Object({
  affiliate_id: Type.Integer({ description: 'Identifier of the affiliate.' }),
  as_of: Type.String({ description: 'Time of the balances: YYYY-MM-DD HH:MM:SS, UTC.' }),
  currency: Type.String({ description: 'ISO 4217 code of the currency.' }),
  ...Object.fromEntries(accounts.map(name => [name, Type.Number({ description: meanings[name] })])),
})

/** One amount that went from one account to another. */
export const transferRecord = Type.Object(
  {
    transfer_id: Type.Integer({ description: 'Identifier of the transfer.' }),
    affiliate_id: Type.Integer({ description: 'Identifier of the affiliate.' }),
    date: Type.String({ description: 'When it was posted: YYYY-MM-DD HH:MM:SS, UTC.' }),
    reason: Type.String({
      description: 'The action that caused it, such as referral.create or payout.fail.',
    }),
    debit: choice(accounts, 'The account that the amount leaves.'),
    credit: choice(accounts, 'The account that the amount enters.'),
    amount: Type.Number({ description: "Amount, in the programme's currency; greater than 0." }),
    balance: Type.Number({
      description: 'What the affiliate is owed after the transfer: unpaid plus reserved.',
    }),
    referral_id: Type.Integer({ description: 'The referral that it concerns; 0 if there is none.' }),
    payout_id: Type.Integer({ description: 'The payout that it concerns; 0 if there is none.' }),
    run_item_id: Type.Integer({
      description: 'The item of a payout run that it concerns; 0 if there is none.',
    }),
    payout_run_id: Type.Integer({ description: 'The payout run of that item; 0 if there is none.' }),
    event_id: Type.Integer({
      description:
        'The event that caused it, shared by transfers that belong together; 0 for what was paid before there was a ledger.',
    }),
    because: Type.String({
      description: 'The cause in words, such as "refund of a sale" or "payout failed".',
    }),
  },
  { title: 'Transfer' },
)

/** What a ledger can be narrowed by. */
export const ledgerFilters = {
  account: Type.Optional(listOf(choice(accounts), 'Only transfers from or to one of these accounts.')),
  reason: Type.Optional(listOf(line(100), 'Only transfers caused by one of these actions.')),
  referral_id: Type.Optional(identifiers('Only transfers that concern one of these referrals.')),
  payout_id: Type.Optional(identifiers('Only transfers that concern one of these payouts.')),
  date: Type.Optional(span('When it was posted: a day, or date[start] and date[end], inclusive.')),
}

export const ledgerItem = Type.Object(affiliate)
const filters = Type.Object({ ...affiliate, ...ledgerFilters })
export type LedgerArguments = Static<typeof filters>

export const deletedButOwedRecord = Type.Object({
  affiliate_id: Type.Integer({ description: 'Identifier of the deleted affiliate.' }),
  name: Type.String({ description: 'Name of the account, which still exists; empty if erased.' }),
  payment_email: Type.String({
    description: 'E-mail address for payments; empty if erased.',
  }),
  owed: Type.Number({ description: 'What is owed: unpaid plus reserved.' }),
  pending: Type.Number({ description: 'What is not approved yet.' }),
})
