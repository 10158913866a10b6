import { AutocompleteInput, ReferenceInput } from 'react-admin'

const queryOfSearch = (search: string) => (search ? { search } : {})

/** The group of an affiliate or of a rule, which need have none. */
export function GroupInput({ helperText }: { helperText: string }) {
  return (
    <ReferenceInput source="group_id" reference="groups" sort={{ field: 'name', order: 'ASC' }}>
      <AutocompleteInput
        label="Group"
        optionText="name"
        emptyValue={0}
        filterToQuery={queryOfSearch}
        helperText={helperText}
      />
    </ReferenceInput>
  )
}
