import { NumberInput, TextInput } from 'react-admin'
import { useWatch } from 'react-hook-form'
import { MOST_ACH_PAYER, MOST_SEPA_NAME } from '../../../src/base/bank-texts.ts'
import { ChoiceInput, FormSection, Row } from '../ui/form.tsx'

const approvals = [
  { id: 'one', name: 'One person' },
  { id: 'two', name: 'Two people' },
]

/** By the currency that a format is for. */
const limits = new Map([
  ['EUR', ` For SEPA: at most ${MOST_SEPA_NAME} characters, without accents and symbols such as &.`],
  ['USD', ` For ACH: at most ${MOST_ACH_PAYER} characters, without accents.`],
])

/** Approval of payout runs, and the payer's details. */
export function PayoutSettings() {
  const currency: string = useWatch({ name: 'currency' })
  return (
    <>
      <FormSection title="Payout runs">
        <Row>
          <ChoiceInput
            source="approval"
            label="Approval"
            choices={approvals}
            helperText="With two, the person who prepared a run cannot approve it."
          />
          <NumberInput
            source="payment_details_days"
            label="Waiting period"
            min={0}
            max={90}
            helperText="Days that changed payment details wait before a payout run uses them."
          />
        </Row>
      </FormSection>
      <FormSection title="Payer" hint="The payer's details in bank files.">
        <TextInput
          source="payer_name"
          label="Name"
          helperText={`As your bank knows you.${limits.get(currency) ?? ''}`}
        />
        <Row>
          <TextInput source="payer_iban" label="IBAN" helperText="For SEPA." />
          <TextInput source="payer_bic" label="BIC" helperText="For SEPA; may be left empty." />
        </Row>
        <Row>
          <TextInput source="payer_bank" label="Bank" helperText="For ACH." />
          <TextInput source="payer_routing" label="Routing number" helperText="For ACH." />
          <TextInput
            source="payer_company_id"
            label="Company identification"
            helperText="For ACH: 10 characters, assigned by your bank."
          />
        </Row>
      </FormSection>
    </>
  )
}
