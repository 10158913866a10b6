import { TextField } from '@mui/material'
import { useEffect, useState } from 'react'
import { DateInput, type DateInputProps } from 'react-admin'

/** Browsers let a year have six digits otherwise, which takes in what was typed for day and month. */
export const LATEST_DAY = '9999-12-31'

/** While a year is typed digit by digit, it passes through the years 2, 20 and 202. */
const isMeant = (day: string) => day === '' || day >= '1900'

/** A date input that reports a day as soon as it is complete. */
export function DayField({
  label,
  value,
  onChange,
}: {
  label: string
  /** YYYY-MM-DD, or '' */
  value: string
  onChange: (day: string) => void
}) {
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  return (
    <TextField
      type="date"
      label={label}
      value={typed}
      onChange={({ target }) => {
        setTyped(target.value)
        if (isMeant(target.value)) onChange(target.value)
      }}
      slotProps={{ inputLabel: { shrink: true }, htmlInput: { max: LATEST_DAY } }}
      sx={{ width: 158 }}
    />
  )
}

/** A day in a form, or in the filters of a list. */
export const DayInput = (props: DateInputProps) => (
  <DateInput {...props} slotProps={{ htmlInput: { max: LATEST_DAY } }} />
)
