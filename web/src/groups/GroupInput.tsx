import { ReferenceInput } from 'react-admin'
import { RecordChoice } from '../ui/RecordChoice.tsx'

/**
 * The group of an affiliate, rule or payout run. No group is null in the form and 0 in the API: `adds` of the kind's pages makes
 * 0 null, and what the form sends says what null means.
 */
export function GroupInput({ helperText }: { helperText: string }) {
  return (
    <ReferenceInput source="group_id" reference="groups" sort={{ field: 'name', order: 'ASC' }}>
      <RecordChoice label="Group" optionText="name" helperText={helperText} />
    </ReferenceInput>
  )
}
