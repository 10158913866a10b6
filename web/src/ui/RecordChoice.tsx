import { type KeyboardEvent, useMemo, useState } from 'react'
import {
  AutocompleteInput,
  type AutocompleteInputProps,
  ChoicesContextProvider,
  useChoicesContext,
} from 'react-admin'
import { useFormContext, useWatch } from 'react-hook-form'
import { CLEAR } from '../messages.ts'

const queryOfSearch = (search: string) => (search ? { search } : {})

/** Searches for a record and chooses it, in forms and filters. It belongs into a ReferenceInput. */
export function RecordChoice(props: AutocompleteInputProps) {
  const { source, isPending } = useChoicesContext()
  const { getValues, setValue } = useFormContext()
  const [typed, setTyped] = useState<string>()
  const { choices, isSearching } = useFound(typed)
  const type = (_event: unknown, text: string, reason: string) => {
    setTyped(reason === 'input' ? text : undefined)
    // The field itself learns a little later what was chosen: emptied before, it would find nothing to take away.
    const isEmptied = text === '' && (reason === 'input' || reason === 'clear')
    if (isEmptied && getValues(source) !== null) setValue(source, null, { shouldDirty: true })
  }
  return (
    <ChoicesContextProvider value={choices}>
      <AutocompleteInput
        // Enter in a field where nothing was typed chooses nothing.
        autoHighlight={Boolean(typed)}
        clearText={CLEAR}
        filterToQuery={queryOfSearch}
        onInputChange={type}
        noOptionsText={isSearching || isPending ? 'Searching' : 'Nothing matches.'}
        onKeyDown={(event: KeyboardEvent) => {
          // It chooses, and sends no form while there is nothing to choose: that would have what was chosen before.
          if (typed && event.key === 'Enter') event.preventDefault()
        }}
        {...props}
      />
    </ChoicesContextProvider>
  )
}

/** What matches what was typed: until it is there, nothing that an earlier text has found can be chosen. */
function useFound(typed: string | undefined) {
  const context = useChoicesContext()
  const { source, filterValues, isPlaceholderData, allChoices } = context
  const value = useWatch({ name: source })
  const isSearching =
    typed !== undefined && (isPlaceholderData === true || (filterValues?.search ?? '') !== typed)
  const chosen = useMemo(() => allChoices?.filter(({ id }) => id === value) ?? [], [allChoices, value])
  return { isSearching, choices: Object.assign({}, context, isSearching && { allChoices: chosen }) }
}
