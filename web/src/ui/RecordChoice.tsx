import { AutocompleteInput, type AutocompleteInputProps, useChoicesContext } from 'react-admin'
import { useFormContext } from 'react-hook-form'
import { CLEAR } from '../messages.ts'

const queryOfSearch = (search: string) => (search ? { search } : {})

/** Searches for a record and chooses it, in forms and filters. It belongs into a ReferenceInput. */
export function RecordChoice(props: AutocompleteInputProps) {
  const { source } = useChoicesContext()
  const { getValues, setValue } = useFormContext()
  // The field itself learns a little later what was chosen: emptied before, it would find nothing to take away.
  const takeAway = (_event: unknown, typed: string, reason: string) => {
    const isEmptied = typed === '' && (reason === 'input' || reason === 'clear')
    if (isEmptied && getValues(source) !== null) setValue(source, null, { shouldDirty: true })
  }
  return (
    <AutocompleteInput
      autoHighlight
      clearText={CLEAR}
      filterToQuery={queryOfSearch}
      onInputChange={takeAway}
      {...props}
    />
  )
}
