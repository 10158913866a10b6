import { required, TextInput } from 'react-admin'
import { useWatch } from 'react-hook-form'
import { useSearchParams } from 'react-router-dom'
import { AffiliateInput } from '../affiliates/AffiliateInput.tsx'
import { payeeOf } from '../affiliates/affiliate.tsx'
import { MomentInput } from '../ui/DayField.tsx'
import { ChoiceInput, FormSection, MoneyInput, numbersProblem, Row } from '../ui/form.tsx'
import { RecordCreate } from '../ui/RecordForms.tsx'
import { OwedAfterPayout } from './OwedAfterPayout.tsx'
import { payouts } from './pages.ts'
import { statusChoices } from './payout.ts'
import { numbersIn } from './sum.ts'
import { UnpaidReferrals } from './UnpaidReferrals.tsx'

type Values = Record<string, unknown>

/** The form's values as API arguments. A validated amount converts to a number without loss. */
export function argumentsOf({ amount, ...data }: Values): Values {
  const { date, ...rest } = data
  return {
    ...rest,
    amount: Number(amount),
    payout_method: data.payout_method ?? '',
    referrals: numbersIn(data.referrals).join(),
    reference: data.reference ?? '',
    note: data.note ?? '',
    // Without a date the server takes the present time.
    ...(date ? { date } : {}),
  }
}

export function PayoutCreate() {
  const payee = Number(useSearchParams()[0].get('affiliate_id'))
  return (
    <RecordCreate
      of={payouts}
      title="Record payout"
      outcome="recorded"
      defaults={{ status: 'paid', ...(payee && { affiliate_id: payee }) }}
      argumentsOf={argumentsOf}
    >
      <Fields isNew />
    </RecordCreate>
  )
}

export function Fields({ isNew = false }: { isNew?: boolean }) {
  return (
    <FormSection
      title="Payout"
      hint="This only records a payment; it does not move money. The selected referrals become paid."
    >
      <AffiliateInput
        nameOf={payeeOf}
        validate={required('Choose the affiliate who was paid.')}
        helperText="Search by name, e-mail address or number."
      />
      {isNew && <UnpaidReferrals />}
      <Row>
        <MoneyInput source="amount" label="Amount" />
        <ChoiceInput
          source="status"
          label="Status"
          choices={statusChoices}
          helperText="Failed means that the money did not arrive."
        />
      </Row>
      <OwedAfterPayout />
      <Row>
        <TextInput
          source="payout_method"
          label="Method"
          helperText="Such as PayPal or bank transfer."
          slotProps={{ htmlInput: { maxLength: 100 } }}
        />
        <TextInput
          source="referrals"
          label="Referrals"
          validate={numbersProblem}
          helperText={
            isNew
              ? 'Referral numbers, separated by commas. Follows the selection above.'
              : 'Numbers of the referrals that it pays.'
          }
          slotProps={{ htmlInput: { inputMode: 'numeric' } }}
        />
      </Row>
      <OfThePayment isNew={isNew} />
    </FormSection>
  )
}

/** What is remembered about the payment itself, whoever made it. */
export function OfThePayment({ isNew = false }: { isNew?: boolean }) {
  const at = useWatch({ name: 'status' }) === 'failed' ? 'Failed at' : 'Paid at'
  return (
    <>
      <Row>
        {/* Of a payout that is recorded, nothing would change where it is emptied. */}
        <MomentInput
          source="date"
          label={`${at} (UTC)`}
          {...(isNew ? { helperText: 'Empty: now.' } : { helperText: false, missing: 'Enter when it was.' })}
        />
        <TextInput
          source="reference"
          label="Reference"
          helperText="The payment's reference at the bank or payment service."
        />
      </Row>
      <TextInput
        source="note"
        label="Note"
        multiline
        minRows={2}
        maxRows={8}
        helperText="Internal: it is not part of the record."
      />
    </>
  )
}
