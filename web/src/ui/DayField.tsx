import { TextField } from '@mui/material'
import { useEffect, useState } from 'react'

/** While a year is typed digit by digit it passes through the years 2, 20 and 202, which nobody means. */
const isMeant = (day: string) => day === '' || day >= '1900'

/** A day that something is shown for as soon as it is typed whole. */
export function DayField({
  label,
  value,
  onChange,
}: {
  label: string
  /** YYYY-MM-DD, or nothing */
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
      slotProps={{ inputLabel: { shrink: true } }}
      sx={{ width: 158 }}
    />
  )
}
