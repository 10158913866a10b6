import { AutocompleteInput, ReferenceInput } from 'react-admin'

const queryOfSearch = (search: string) => (search ? { search } : {})

/** The group of an affiliate, a rule or a run, which need have none: null in a form, and 0 to the service. */
export function GroupInput({ helperText }: { helperText: string }) {
  return (
    <ReferenceInput source="group_id" reference="groups" sort={{ field: 'name', order: 'ASC' }}>
      <AutocompleteInput
        label="Group"
        optionText="name"
        filterToQuery={queryOfSearch}
        helperText={helperText}
      />
    </ReferenceInput>
  )
}
