import { required, TextInput } from 'react-admin'
import { FormSection, Row } from '../ui/form.tsx'
import { RecordCreate, RecordEdit } from '../ui/RecordForms.tsx'
import { type Customer, nameOf } from './customer.ts'
import { customers } from './pages.ts'

export function CustomerCreate() {
  return (
    <RecordCreate of={customers} title="Create customer">
      <Fields />
    </RecordCreate>
  )
}

export function CustomerEdit() {
  return (
    <RecordEdit<Customer> of={customers} nameOf={nameOf}>
      <Fields />
    </RecordEdit>
  )
}

function Fields() {
  return (
    <FormSection title="Customer">
      <TextInput
        source="email"
        label="E-mail"
        validate={required('Enter an e-mail address.')}
        helperText="Must be unique among customers."
      />
      <Row>
        <TextInput source="first_name" label="First name" helperText={false} />
        <TextInput source="last_name" label="Last name" helperText={false} />
      </Row>
    </FormSection>
  )
}
