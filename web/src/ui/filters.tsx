/** List filters. Each applies as the user types (debounced). */
import { DateInput, SelectInput, TextInput } from 'react-admin'
import { optionalAmount } from './form.tsx'
import { useMoney, withPoint } from './format.ts'
import { choicesOf } from './words.ts'

const wide = (pixels: number) => ({ width: { sm: pixels } })
/** One value of a list: a text with a comma would be several. */
const asOne = (typed: string) => (typed === '' ? '' : [typed])
const ofOne = (value: string | string[] = '') => [value].flat().join()

interface FilterProps {
  source: string
  label: string
}

export function TextFilter({ width = 140, ...filterProps }: FilterProps & { width?: number }) {
  return <TextInput {...filterProps} parse={asOne} format={ofOne} helperText={false} sx={wide(width)} />
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

/** Browsers let a year have six digits otherwise, which takes in what was typed for day and month. */
const LATEST_DAY = '9999-12-31'

/** Filter by a range of days, both included. */
export function DateFilter({
  source = 'date',
  label = 'Date',
  width = 158,
}: Partial<FilterProps> & { width?: number }) {
  const day = {
    helperText: false,
    sx: wide(width),
    slotProps: { htmlInput: { max: LATEST_DAY } },
  } as const
  return (
    <>
      <DateInput source={`${source}.start`} label={`${label} from`} {...day} />
      <DateInput source={`${source}.end`} label={`${label} until`} {...day} />
    </>
  )
}

export function AmountFilter({ source = 'amount', label = 'Amount' }: Partial<FilterProps>) {
  const problem = optionalAmount(useMoney())
  const amount = {
    parse: withPoint,
    validate: problem,
    helperText: false,
    sx: wide(124),
    slotProps: { htmlInput: { inputMode: 'decimal' } },
  } as const
  return (
    <>
      <TextInput source={`${source}.min`} label={`${label} from`} {...amount} />
      <TextInput source={`${source}.max`} label={`${label} until`} {...amount} />
    </>
  )
}
