import { BooleanInput } from 'react-admin'
import { ChoiceInput, FormSection } from '../ui/form.tsx'

const unknownReferrals = [
  { id: 'keep', name: 'Kept, as those of another system' },
  { id: 'refuse', name: 'Refused' },
]

/** What may be recorded of referrals and payouts. */
export function RecordingFields() {
  return (
    <FormSection title="Referrals and payouts">
      <BooleanInput
        source="unique_references"
        label="References of an affiliate are unique"
        helperText="Off for shops that use one reference for several sales."
      />
      <ChoiceInput
        source="unknown_referrals"
        label="Unknown referrals in a payout"
        choices={unknownReferrals}
        helperText="Numbers of referrals that are not recorded here."
      />
    </FormSection>
  )
}
