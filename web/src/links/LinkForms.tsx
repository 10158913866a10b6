import { required, TextInput } from 'react-admin'
import { useWatch } from 'react-hook-form'
import { AffiliateInput } from '../affiliates/AffiliateInput.tsx'
import { numberedName } from '../affiliates/affiliate.tsx'
import { FormSection, Row } from '../ui/form.tsx'
import { DeleteRecord, RecordCreate, RecordEdit } from '../ui/RecordForms.tsx'
import { type Link, nameOf } from './link.ts'
import { NoProgrammePage } from './NoProgrammePage.tsx'
import { links } from './pages.ts'

export function LinkCreate() {
  return (
    <RecordCreate of={links} title="Create link" argumentsOf={withoutEmpty}>
      <Fields codeHint="The last part of its address. Made up when it is empty." />
    </RecordCreate>
  )
}

/** An empty code is left out: the server then generates one. */
const withoutEmpty = (values: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value))

export function LinkEdit() {
  return (
    <RecordEdit<Link>
      of={links}
      nameOf={nameOf}
      actions={link => (
        <DeleteRecord of={links} record={link} name={`link ${link.code}`}>
          Its address leads to the programme page from now on, and credits nobody. Visits that came by it
          stay.
        </DeleteRecord>
      )}
    >
      <Fields codeHint="The last part of its address. With another one, addresses that were given out credit nobody." />
    </RecordEdit>
  )
}

/** Warning for a link without a destination while the settings have no programme page. */
function NoPage() {
  const destination = useWatch({ name: 'destination' })
  return destination ? null : <NoProgrammePage />
}

function Fields({ codeHint }: { codeHint: string }) {
  return (
    <FormSection title="Link">
      <AffiliateInput
        nameOf={numberedName}
        validate={required('A link belongs to an affiliate.')}
        helperText={false}
      />
      <TextInput
        source="destination"
        label="Leads to"
        helperText="A page on a host of the settings. The programme page when it is empty."
      />
      <NoPage />
      <Row>
        <TextInput source="code" label="Code" helperText={codeHint} />
        <TextInput source="campaign" label="Campaign" helperText="What its visits are counted under." />
      </Row>
    </FormSection>
  )
}
