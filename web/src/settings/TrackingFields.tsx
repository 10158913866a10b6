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
      hint="Where affiliates' links lead, and which click gets the credit for a sale."
    >
      <TextInput
        source="programme_page"
        label="Programme page"
        helperText="The shop's page that links lead to by default, starting with https://."
      />
      <TextInput
        source="visitor_url"
        label="Address for visitors"
        helperText="Where visitors reach the links and the script, such as https://shop.example/go. If empty, where you have opened this area."
      />
      <NamesInput
        source="allowed_hosts"
        label="Allowed hosts"
        helperText="Further hosts that links may lead to: shop.example, shop.example:8443, or *.shop.example for all subdomains. Press Enter after each."
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
          helperText="Older visits are only counted."
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
