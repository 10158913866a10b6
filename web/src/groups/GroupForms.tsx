import { Button } from '@mui/material'
import { required, TextInput } from 'react-admin'
import { Link } from 'react-router-dom'
import { FormSection } from '../ui/form.tsx'
import { DeleteRecord, RecordCreate, RecordEdit } from '../ui/RecordForms.tsx'
import { type Group, nameOf } from './group.ts'
import { groups } from './pages.ts'

export function GroupCreate() {
  return (
    <RecordCreate of={groups} title="Create group">
      <Fields />
    </RecordCreate>
  )
}

export function GroupEdit() {
  return (
    <RecordEdit<Group>
      of={groups}
      nameOf={nameOf}
      actions={group => (
        <>
          <Button component={Link} to={`/rules?filter=${filterBy(group)}`}>
            Rules
          </Button>
          <DeleteRecord of={groups} record={group} name={`group ${group.name}`}>
            The group is gone for good. It cannot be deleted as long as affiliates belong to it, or a rule is
            for it.
          </DeleteRecord>
        </>
      )}
    >
      <Fields />
    </RecordEdit>
  )
}

const filterBy = ({ id }: Group) => encodeURIComponent(JSON.stringify({ group_id: id }))

function Fields() {
  return (
    <FormSection title="Group" hint="To add affiliates to a group, edit the affiliate.">
      <TextInput
        source="name"
        label="Name"
        validate={required('A group needs a name.')}
        helperText="Must be unique among groups."
      />
      <TextInput
        source="description"
        label="Description"
        multiline
        minRows={2}
        maxRows={8}
        helperText="Who belongs to the group, and why."
      />
    </FormSection>
  )
}
