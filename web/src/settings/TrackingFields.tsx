import { BooleanInput, NumberInput, TextInput } from 'react-admin'
import { ChoiceInput, FormSection, Row } from '../ui/form.tsx'
import { NamesInput } from '../ui/NamesInput.tsx'

const models = [
  { id: 'last', name: 'Last click' },
  { id: 'first', name: 'First click' },
]

/** Link destinations and attribution settings. */
export function TrackingFields() {
  return (
    <FormSection title="Tracking" hint="Where affiliates' links lead, and how sales are credited.">
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
        <ChoiceInput
          source="attribution"
          label="Attribution"
          choices={models}
          missing="Choose which click counts."
          helperText="Which click of a customer gets the credit for a sale."
        />
        <NumberInput
          source="attribution_days"
          label="Attribution window"
          min={1}
          max={365}
          helperText="Days after a click within which a sale is credited to it."
        />
        <NumberInput
          source="visit_days"
          label="Visit retention"
          min={1}
          max={3650}
          helperText="Days for which individual visits are kept; daily totals are kept for good."
        />
      </Row>
      <BooleanInput
        source="consent_required"
        label="The script waits for the visitor's consent"
        helperText={false}
      />
    </FormSection>
  )
}
