import { required, TextInput } from 'react-admin'
import { ChoiceInput, FormSection, Row } from '../ui/form.tsx'
import { DeleteRecord, RecordCreate, RecordEdit } from '../ui/RecordForms.tsx'
import { StatusChip } from '../ui/StatusChip.tsx'
import { choicesOf } from '../ui/words.ts'
import { type Creative, nameOf, statuses } from './creative.ts'
import { creatives } from './pages.ts'

export function CreativeCreate() {
  return (
    <RecordCreate of={creatives} title="Create creative" defaults={{ status: 'active' }}>
      <Fields />
    </RecordCreate>
  )
}

export function CreativeEdit() {
  return (
    <RecordEdit<Creative>
      of={creatives}
      nameOf={nameOf}
      aside={({ status }) => <StatusChip status={status} />}
      actions={creative => (
        <DeleteRecord of={creatives} record={creative} name={`creative ${nameOf(creative)}`}>
          The creative is deleted for good. Links that affiliates made with it keep working.
        </DeleteRecord>
      )}
    >
      <Fields />
    </RecordEdit>
  )
}

function Fields() {
  return (
    <FormSection title="Creative">
      <Row>
        <TextInput
          source="name"
          label="Name"
          validate={required('A creative needs a name.')}
          helperText={false}
        />
        <ChoiceInput source="status" label="Status" choices={choicesOf(statuses)} />
      </Row>
      <TextInput source="url" label="Leads to" helperText="Address of the page, starting with https://." />
      <TextInput source="image" label="Image" helperText="Address of the image, starting with https://." />
      <TextInput
        source="text"
        label="Text"
        multiline
        minRows={2}
        maxRows={8}
        helperText="The text of the link."
      />
      <TextInput
        source="description"
        label="Description"
        multiline
        minRows={2}
        maxRows={8}
        helperText="What the creative is for."
      />
    </FormSection>
  )
}
