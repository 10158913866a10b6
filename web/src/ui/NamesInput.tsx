/**
 * Several free-text values. Text that is still being typed becomes an entry when the field loses the focus, so that
 * it is not lost.
 */
import { Autocomplete, TextField } from '@mui/material'
import { useInput } from 'react-admin'

export function NamesInput({
  source,
  label,
  helperText,
}: {
  source: string
  label: string
  helperText: string
}) {
  const { id, field, fieldState } = useInput<string[]>({ source, defaultValue: [] })
  const { error, invalid } = fieldState
  return (
    <Autocomplete
      multiple
      freeSolo
      autoSelect
      id={id}
      options={[]}
      value={field.value}
      onChange={(_, names) => {
        const typed = names.map(name => name.trim()).filter(name => name !== '')
        field.onChange([...new Set(typed)])
      }}
      onBlur={field.onBlur}
      renderInput={params => (
        <TextField
          {...params}
          label={label}
          inputRef={field.ref}
          error={invalid}
          helperText={error?.message ?? helperText}
        />
      )}
    />
  )
}
