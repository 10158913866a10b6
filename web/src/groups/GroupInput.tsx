import { AutocompleteInput, ReferenceInput } from 'react-admin'

const queryOfSearch = (search: string) => (search ? { search } : {})

/**
 * The group of an affiliate, rule or payout run. No group is null in the form and 0 in the API: `adds` of the kind's pages makes
 * 0 null, and what the form sends says what null means.
 */
export function GroupInput({ helperText }: { helperText: string }) {
  return (
    <ReferenceInput source="group_id" reference="groups" sort={{ field: 'name', order: 'ASC' }}>
      <AutocompleteInput
        autoHighlight
        label="Group"
        optionText="name"
        filterToQuery={queryOfSearch}
        helperText={helperText}
      />
    </ReferenceInput>
  )
}
