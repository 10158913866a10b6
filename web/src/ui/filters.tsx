/** List filters. Each applies as the user types (debounced). */
import { TextField } from '@mui/material'
import { useEffect, useRef, useState } from 'react'
import { SelectInput, TextInput } from 'react-admin'
import { useController } from 'react-hook-form'
import { DayFilter } from './DayField.tsx'
import { optionalAmount } from './form.tsx'
import { useMoney } from './format.ts'
import { withPoint } from './numbers.ts'
import { choicesOf } from './words.ts'

const wide = (pixels: number) => ({ width: { sm: pixels } })
/** One value of a list: a text with a comma would be several. */
const asOne = (typed: string) => (typed === '' ? '' : [typed])
const ofOne = (value: string | string[] = '') => [value].flat().join()
const ofFirst = (value: string | string[] = '') => [value].flat()[0] ?? ''

interface FilterProps {
  source: string
  label: string
}

export function TextFilter({ width = 140, ...filterProps }: FilterProps & { width?: number }) {
  return <TextInput {...filterProps} parse={asOne} format={ofOne} helperText={false} sx={wide(width)} />
}

/** Filter by a text that lists show under a name, if it has one: either can be typed. */
export function NamedFilter({
  idOf,
  ...filterProps
}: FilterProps & {
  /** @returns what has this name */
  idOf: (name: string) => string | undefined
}) {
  const parse = (typed: string) => {
    const id = idOf(typed)
    return id === undefined ? asOne(typed) : [typed, id]
  }
  return <TextInput {...filterProps} parse={parse} format={ofFirst} helperText={false} sx={wide(140)} />
}

/** Filter by one of the server's fixed values. */
export function ChoiceFilter({
  choices,
  width = 130,
  ...named
}: FilterProps & { choices: readonly string[]; width?: number }) {
  return (
    <SelectInput
      {...named}
      choices={choicesOf(choices)}
      translateChoice={false}
      emptyText="Any"
      helperText={false}
      margin="none"
      sx={{ ...wide(width), minWidth: 110 }}
    />
  )
}

/** Filter by a range of days, both included. */
export function DateFilter({
  source = 'date',
  label = 'Date',
  width = 158,
}: Partial<FilterProps> & { width?: number }) {
  const day = { helperText: false, sx: wide(width) } as const
  return (
    <>
      <DayFilter source={`${source}.start`} label={`${label} from`} {...day} />
      <DayFilter source={`${source}.end`} label={`${label} until`} {...day} />
    </>
  )
}

export function AmountFilter({ source = 'amount', label = 'Amount' }: Partial<FilterProps>) {
  return (
    <>
      <AmountField source={`${source}.min`} label={`${label} from`} />
      <AmountField source={`${source}.max`} label={`${label} until`} />
    </>
  )
}

/** Of what is no amount the filters know nothing: an invalid form would keep all others from being applied. */
function AmountField({ source, label }: FilterProps) {
  const problemOf = optionalAmount(useMoney())
  const { field } = useController({ name: source, defaultValue: '' })
  const applied: string = field.value ?? ''
  const [typed, setTyped] = useState(applied)
  const sent = useRef(applied)
  useEffect(() => {
    // By the address of the page, or by "Clear filters".
    if (applied === sent.current) return
    sent.current = applied
    setTyped(applied)
  }, [applied])
  const change = (text: string) => {
    const amount = withPoint(text)
    setTyped(amount)
    sent.current = problemOf(amount) === undefined ? amount.trim() : ''
    field.onChange(sent.current)
  }
  const problem = problemOf(typed)
  return (
    <TextField
      label={label}
      value={typed}
      onChange={event => change(event.target.value)}
      error={problem !== undefined}
      helperText={problem}
      size="small"
      sx={wide(124)}
      slotProps={{ htmlInput: { inputMode: 'decimal' } }}
    />
  )
}
