import { required, TextInput } from 'react-admin'
import { AffiliateInput } from '../affiliates/AffiliateInput.tsx'
import { numberedName } from '../affiliates/affiliate.tsx'
import { ChoiceInput, FormSection, Row } from '../ui/form.tsx'
import { DeleteRecord, RecordCreate, RecordEdit } from '../ui/RecordForms.tsx'
import { StatusChip } from '../ui/StatusChip.tsx'
import { choicesOf } from '../ui/words.ts'
import { type Coupon, nameOf, statuses } from './coupon.ts'
import { coupons } from './pages.ts'

export function CouponCreate() {
  return (
    <RecordCreate of={coupons} title="Create coupon" defaults={{ status: 'active' }}>
      <Fields />
    </RecordCreate>
  )
}

export function CouponEdit() {
  return (
    <RecordEdit<Coupon>
      of={coupons}
      nameOf={nameOf}
      aside={({ status }) => <StatusChip status={status} />}
      actions={coupon => (
        <DeleteRecord of={coupons} record={coupon} name={`coupon ${nameOf(coupon)}`}>
          The coupon is deleted for good, and its code no longer credits anyone. Past earnings stay.
        </DeleteRecord>
      )}
    >
      <Fields />
    </RecordEdit>
  )
}

function Fields() {
  return (
    <FormSection title="Coupon">
      <Row>
        <TextInput
          source="code"
          label="Code"
          validate={required('A coupon needs a code.')}
          helperText="The code that customers enter. Upper and lower case are the same."
        />
        <ChoiceInput
          source="status"
          label="Status"
          choices={choicesOf(statuses)}
          helperText="An inactive coupon credits nobody."
        />
      </Row>
      <AffiliateInput
        nameOf={numberedName}
        validate={required('Choose the affiliate to credit.')}
        helperText="Search by name, e-mail address or number."
      />
      <TextInput
        source="campaign"
        label="Campaign"
        helperText="The campaign that its sales are counted under."
      />
    </FormSection>
  )
}
