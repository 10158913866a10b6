/** Payout settings: the payer, and the approval of payout runs. */
import { MOST_ACH_PAYER, MOST_SEPA_NAME, problemInAch, problemInSepa } from '../base/bank-texts.ts'
import { bicProblem, compactCode, ibanProblem, isRouting, MOST_ROUTING } from '../base/banks.ts'
import type { Problems } from '../base/errors.ts'
import { line, secret } from '../base/schemas.ts'
import type { Settings } from '../base/settings.ts'
import { days, group, oneOf, text } from './setting.ts'

const MOST_BANK = 23

export const payouts = group({
  approval: oneOf(
    'approval',
    ['one', 'two'],
    'How many people a payout run needs: with two, the person who prepared it cannot approve it.',
  ),
  payment_details_days: days(
    'detailsDays',
    { initial: 3, minimum: 0, maximum: 90 },
    'Number of days that changed payment details wait before a payout run uses them.',
  ),
  payer_name: text('name', line(70, 'Name of the payer, as the bank knows it.')),
  payer_iban: text('iban', secret(42, 'IBAN of the payer, for SEPA files.'), compactCode),
  payer_bic: text('bic', line(11, "BIC of the payer's bank, for SEPA files; optional."), compactCode),
  payer_bank: text('bank', line(MOST_BANK, "Name of the payer's bank, for NACHA files.")),
  payer_routing: text(
    'routing',
    line(MOST_ROUTING, "Routing number of the payer's bank, for NACHA files, with or without spaces."),
    compactCode,
  ),
  payer_company_id: text(
    'companyId',
    line(10, 'Company identification of the payer, for NACHA files: 10 characters, assigned by the bank.'),
  ),
})

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
      !isRouting(compactCode(routing)) && {
        payer_routing: 'must be a routing number of 9 digits, or empty.',
      }),
    ...(company &&
      !/^(?! {10})[A-Z0-9 ]{10}$/.test(company) && {
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
