/** Payout settings: the payer, and the approval of payout runs. */
import { Type } from 'typebox'
import { MOST_ACH_PAYER, MOST_SEPA_NAME, problemInAch, problemInSepa } from '../base/bank-texts.ts'
import { bicProblem, compactCode, ibanProblem, isRouting } from '../base/banks.ts'
import type { Problems } from '../base/errors.ts'
import { choice, line, secret } from '../base/schemas.ts'
import type { PayoutSettings, Settings } from '../base/settings.ts'

const MOST_BANK = 23

export const payoutSchemas = {
  approval: choice(
    ['one', 'two'],
    'How many persons a payout run takes: with two, who prepared it cannot approve it.',
  ),
  payment_details_days: Type.Integer({
    minimum: 0,
    maximum: 90,
    description: 'How many days changed payment details wait before a payout run uses them.',
  }),
  payer_name: line(70, 'Who pays, as the bank knows them.'),
  payer_iban: secret(42, "The payer's IBAN, for SEPA files."),
  payer_bic: line(11, "The BIC of the payer's bank, for SEPA files; may be left empty."),
  payer_bank: line(MOST_BANK, "The name of the payer's bank, for NACHA files."),
  payer_routing: line(9, "The routing number of the payer's bank, for NACHA files."),
  payer_company_id: line(
    10,
    "The payer's company identification, for NACHA files: 10 characters that the bank gives.",
  ),
}

export const payoutNames = Object.keys(payoutSchemas)

interface Changes {
  readonly currency?: string
  readonly payer_name?: string
  readonly payer_bank?: string
  readonly payer_iban?: string
  readonly payer_bic?: string
  readonly payer_routing?: string
  readonly payer_company_id?: string
}

export function payoutProblems(changes: Changes, before: Settings): Problems {
  const { payer_iban: iban, payer_bic: bic, payer_routing: routing, payer_company_id: company } = changes
  const wrongIban = iban ? ibanProblem(compactCode(iban)) : undefined
  const wrongBic = bic ? bicProblem(compactCode(bic)) : undefined
  return {
    ...problemsOfTexts(changes, before),
    ...(wrongIban && { payer_iban: wrongIban }),
    ...(wrongBic && { payer_bic: wrongBic }),
    ...(routing &&
      !isRouting(routing) && { payer_routing: 'must be a routing number of 9 digits, or empty.' }),
    ...(company &&
      !/^[A-Z0-9 ]{10}$/.test(company) && {
        payer_company_id: 'must be 10 capital letters and digits, or empty.',
      }),
  }
}

/** Refuses names that a bank file cannot contain: better now than when the money is due. */
function problemsOfTexts(changes: Changes, { currency: before, payouts }: Settings): Problems {
  const { currency = before, payer_name: name = payouts.name, payer_bank: bank = '' } = changes
  const { payer_iban: iban = payouts.iban, payer_routing: routing = payouts.routing } = changes
  const isNamed = ['currency', 'payer_name', 'payer_iban', 'payer_routing'].some(one => one in changes)
  const inSepa = currency === 'EUR' && iban !== '' && problemInSepa(name, 'The name', MOST_SEPA_NAME)
  const inAch = currency === 'USD' && routing !== '' && problemInAch(name, 'The name', MOST_ACH_PAYER)
  const problem = isNamed && (inSepa || inAch)
  const [file, account] = inSepa
    ? ['a SEPA', 'IBAN (payer_iban)']
    : ['an ACH', 'Routing number (payer_routing)']
  const ofBank = problemInAch(bank, 'The name', MOST_BANK)
  return {
    ...(problem && {
      payer_name: `cannot be in ${file} file. ${problem} If you make no such files, leave ${account} empty.`,
    }),
    ...(ofBank && {
      payer_bank: `cannot be in an ACH file. ${ofBank} If you make no such files, leave it empty.`,
    }),
  }
}

/** The changes as name and stored value. */
export function storedPayouts(changes: Changes): [string, string][] {
  return Object.entries(changes)
    .filter(([name, value]) => payoutNames.includes(name) && value !== undefined)
    .map(([name, value]) => [
      name,
      name === 'payer_iban' || name === 'payer_bic' ? compactCode(value) : String(value),
    ])
}

export function payoutsOf(values: ReadonlyMap<string, string>): PayoutSettings {
  const text = (name: keyof typeof payoutSchemas) => values.get(name) ?? ''
  return {
    approval: text('approval') === 'two' ? 'two' : 'one',
    detailsDays: Number(values.get('payment_details_days') ?? 3),
    name: text('payer_name'),
    iban: text('payer_iban'),
    bic: text('payer_bic'),
    bank: text('payer_bank'),
    routing: text('payer_routing'),
    companyId: text('payer_company_id'),
  }
}

export function payoutsRecord({ payouts }: Pick<Settings, 'payouts'>) {
  return {
    approval: payouts.approval,
    payment_details_days: payouts.detailsDays,
    payer_name: payouts.name,
    payer_iban: payouts.iban,
    payer_bic: payouts.bic,
    payer_bank: payouts.bank,
    payer_routing: payouts.routing,
    payer_company_id: payouts.companyId,
  }
}
