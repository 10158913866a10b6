import { required, SelectInput, TextInput } from 'react-admin'
import { AffiliateInput } from '../affiliates/AffiliateInput.tsx'
import { numberedName } from '../affiliates/affiliate.tsx'
import { capital } from '../names.ts'
import { FormSection, Row } from '../ui/form.tsx'
import { DeleteRecord, RecordCreate, RecordEdit } from '../ui/RecordForms.tsx'
import { StatusChip } from '../ui/StatusChip.tsx'
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
          The coupon is gone for good, and its code credits nobody any more. What it has earned stays.
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
          helperText="What customers enter, in any case of letters."
        />
        <SelectInput
          margin="none"
          source="status"
          label="Status"
          choices={statuses.map(id => ({ id, name: capital(id) }))}
          validate={required()}
          helperText="An inactive one credits nobody."
        />
      </Row>
      <AffiliateInput
        nameOf={numberedName}
        validate={required('Choose the affiliate who is credited.')}
        helperText="Search by name, e-mail address or number."
      />
      <TextInput source="campaign" label="Campaign" helperText="That its sales count for." />
    </FormSection>
  )
}
