import { required, TextInput, useRecordContext } from 'react-admin'
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
      <Fields codeHint="Last part of the link's address. Generated if empty." />
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
          {isDefault(link)
            ? 'Its address goes on crediting the affiliate, and leads to the programme page.'
            : 'From now on its address leads to the programme page and credits nobody.'}{' '}
          Past visits stay.
        </DeleteRecord>
      )}
    >
      <Fields codeHint="Last part of the link's address. If you change it, addresses already in use no longer credit anyone." />
    </RecordEdit>
  )
}

/** Warning for a link without a destination while the settings have no programme page. */
function NoPage() {
  const destination = useWatch({ name: 'destination' })
  return destination ? null : <NoProgrammePage />
}

/** Its address credits the affiliate by their identifier, also without the link. */
const isDefault = ({ code, affiliate_id }: Link) => code === String(affiliate_id)

function Fields({ codeHint }: { codeHint: string }) {
  const link = useRecordContext<Link>()
  const isFixed = link !== undefined && isDefault(link)
  return (
    <FormSection title="Link">
      <AffiliateInput
        nameOf={numberedName}
        validate={required('Choose the affiliate of the link.')}
        helperText={isFixed && 'This is the default link of this affiliate.'}
        disabled={isFixed}
      />
      <TextInput
        source="destination"
        label="Leads to"
        helperText="A page on an allowed host (see Settings). If empty, the programme page."
      />
      <NoPage />
      <Row>
        <TextInput
          source="code"
          label="Code"
          helperText={isFixed ? 'It stays: create another link for another code.' : codeHint}
          disabled={isFixed}
        />
        <TextInput
          source="campaign"
          label="Campaign"
          helperText="The campaign that its visits are counted under."
        />
      </Row>
    </FormSection>
  )
}
