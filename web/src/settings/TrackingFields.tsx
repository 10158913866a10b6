import { BooleanInput, NumberInput, required, SelectInput, TextInput } from 'react-admin'
import { FormSection, Row } from '../ui/form.tsx'
import { NamesInput } from '../ui/NamesInput.tsx'

const models = [
  { id: 'last', name: 'The last click' },
  { id: 'first', name: 'The first click' },
]

/** Link destinations and attribution settings. */
export function TrackingFields() {
  return (
    <FormSection
      title="Tracking"
      hint="Where the links of affiliates lead to, and which of a customer's clicks a sale is credited to."
    >
      <TextInput
        source="programme_page"
        label="Programme page"
        helperText="The page of the shop that links lead to when they name no other, beginning with https://."
      />
      <NamesInput
        source="allowed_hosts"
        label="Allowed hosts"
        helperText="Further hosts that links may lead to: shop.example, shop.example:8443, or *.shop.example for all below it. Enter begins the next one."
      />
      <Row>
        <SelectInput
          margin="none"
          source="attribution"
          label="Credited is"
          choices={models}
          validate={required('Choose which click counts.')}
          helperText={false}
        />
        <NumberInput
          source="attribution_days"
          label="Days after the click"
          min={1}
          max={365}
          helperText={false}
        />
        <NumberInput
          source="visit_days"
          label="Days of visits"
          min={1}
          max={3650}
          helperText="Older ones are only counted."
        />
      </Row>
      <BooleanInput
        source="consent_required"
        label="The script waits until the visitor has consented"
        helperText={false}
      />
    </FormSection>
  )
}
