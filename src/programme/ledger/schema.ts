import { type Static, Type } from 'typebox'
import { choice, identifier, identifiers, line, listOf, moment, span } from '../../base/schemas.ts'
import { accounts } from './holdings.ts'

const affiliate = { affiliate_id: identifier('Identifier of the affiliate, who may have been deleted.') }

export const balancesArguments = Type.Object({
  ...affiliate,
  as_of: Type.Optional(
    moment('The day or second at the end of which they are wanted, UTC; now when omitted.'),
  ),
})

export type BalancesArguments = Static<typeof balancesArguments>

const meanings: Record<(typeof accounts)[number], string> = {
  commission: 'Where earnings come from: below 0 by what all of them come to.',
  pending: 'Earned, and not approved yet.',
  unpaid: 'Approved, and to be paid.',
  reserved: 'In a payout run that is approved.',
  paid_out: 'What payouts have paid.',
  external: 'Paid by hand, less what payouts paid for another system.',
  difference: 'What payouts paid less than their referrals, or, below 0, more.',
  written_off: 'Where write-offs come from and go.',
}

/** What came into each account less what went out. */
export const balancesRecord = Type.Object({
  affiliate_id: Type.Integer({ description: 'Identifier of the affiliate.' }),
  as_of: Type.String({ description: 'When the balances are of: YYYY-MM-DD HH:MM:SS, UTC.' }),
  currency: Type.String({ description: 'ISO 4217 code of the currency.' }),
  ...Object.fromEntries(accounts.map(name => [name, Type.Number({ description: meanings[name] })])),
})

/** One amount that went from one account to another. */
export const transferRecord = Type.Object(
  {
    transfer_id: Type.Integer({ description: 'Identifier of the transfer.' }),
    affiliate_id: Type.Integer({ description: 'Identifier of the affiliate.' }),
    date: Type.String({ description: 'When it was posted: YYYY-MM-DD HH:MM:SS, UTC.' }),
    reason: Type.String({ description: 'What it follows from, such as referral.create or payout.fail.' }),
    debit: choice(accounts, 'The account that it comes from.'),
    credit: choice(accounts, 'The account that it goes to.'),
    amount: Type.Number({ description: 'Amount, in the currency of the settings; more than 0.' }),
    balance: Type.Number({ description: 'What the affiliate is owed after it: unpaid and reserved.' }),
    referral_id: Type.Integer({ description: 'The referral that it is about; 0 when it is about none.' }),
    payout_id: Type.Integer({ description: 'The payout that it is about; 0 when it is about none.' }),
    run_item_id: Type.Integer({ description: 'The item of a payout run; 0 when it is about none.' }),
    payout_run_id: Type.Integer({ description: 'The payout run of that item; 0 when it is about none.' }),
    event_id: Type.Integer({
      description:
        'Transfers with the same event belong together; 0 for what was paid before there was a ledger.',
    }),
    because: Type.String({
      description: 'The reason in words, such as "refund of a sale" or "payout failed".',
    }),
  },
  { title: 'Transfer' },
)

/** What a ledger can be narrowed by. */
export const ledgerFilters = {
  account: Type.Optional(listOf(choice(accounts), 'Only what comes from or goes to one of these accounts.')),
  reason: Type.Optional(listOf(line(100), 'Only what follows from these actions.')),
  referral_id: Type.Optional(identifiers('Only what is about one of these referrals.')),
  payout_id: Type.Optional(identifiers('Only what is about one of these payouts.')),
  date: Type.Optional(span('When it was posted: a day, or date[start] and date[end], inclusive.')),
}

export const ledgerItem = Type.Object(affiliate)
const filters = Type.Object({ ...affiliate, ...ledgerFilters })
export type LedgerArguments = Static<typeof filters>

export const deletedButOwedRecord = Type.Object({
  affiliate_id: Type.Integer({ description: 'Identifier of the affiliate, who was deleted.' }),
  name: Type.String({ description: 'Of the account, which is still there; empty when it is erased.' }),
  payment_email: Type.String({
    description: 'Where payments went; empty when it is erased.',
  }),
  owed: Type.Number({ description: 'What is owed: unpaid and reserved.' }),
  pending: Type.Number({ description: 'What waits for approval.' }),
})
