import { TextField } from '@mui/material'
import { type FocusEvent, type KeyboardEvent, useEffect, useEffectEvent, useRef, useState } from 'react'
import { DateInput, type DateInputProps, DateTimeInput, required, type TextInputProps } from 'react-admin'

/** Browsers let a year have six digits otherwise, which takes in what was typed for day and month. */
export const LATEST_DAY = '9999-12-31'

/** While a year is typed digit by digit, it passes through the years 2, 20 and 202. */
const isMeant = (day: string) => day === '' || day >= '1900'

/** Each key makes another day until all of it is typed: after this pause it is. */
const TYPED_MS = 1500

/**
 * A date input that reports a day once it is meant: at once where it is picked; where it is typed, when the field is left, by
 * Enter, or after a pause.
 */
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
  const [shown, setShown] = useState(value)
  const isByKey = useRef(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    setShown(value)
    return () => clearTimeout(timer.current)
  }, [value])
  // What is typed is meant for the page as it was: on the way back it would be applied to the one before.
  useOnWayBack(() => {
    clearTimeout(timer.current)
    setShown(value)
  })
  const report = ({ value: day, validity }: HTMLInputElement) => {
    clearTimeout(timer.current)
    // Of a day that is typed in part there is no value either.
    if (day !== value && isMeant(day) && !validity.badInput) onChange(day)
  }
  const change = (field: HTMLInputElement) => {
    setShown(field.value)
    clearTimeout(timer.current)
    if (isByKey.current) timer.current = setTimeout(report, TYPED_MS, field)
    else report(field)
  }
  return (
    <TextField
      type="date"
      label={label}
      value={shown}
      onChange={({ target }) => target instanceof HTMLInputElement && change(target)}
      slotProps={{
        inputLabel: { shrink: true },
        htmlInput: {
          max: LATEST_DAY,
          onPointerDown: () => {
            isByKey.current = false
          },
          onKeyDown: ({ key, currentTarget }: KeyboardEvent<HTMLInputElement>) => {
            isByKey.current = true
            if (key === 'Enter') report(currentTarget)
          },
          onBlur: ({ currentTarget }: FocusEvent<HTMLInputElement>) => report(currentTarget),
        },
      }}
      sx={{ width: 158 }}
    />
  )
}

function useOnWayBack(act: () => void) {
  const onWayBack = useEffectEvent(act)
  useEffect(() => {
    const heard = () => onWayBack()
    window.addEventListener('popstate', heard)
    return () => window.removeEventListener('popstate', heard)
  }, [])
}

/**
 * For a field of a day or a time: what is typed in part has no value, and would be taken for an empty field.
 * @returns the ref of the field, and its validation
 */
export function useNotInPart() {
  const field = useRef<HTMLInputElement>(null)
  const problem = () =>
    field.current?.validity.badInput ? 'Filled in only in part: complete it, or empty it.' : undefined
  return { field, problem }
}

/** A day in a form. */
export function DayInput(props: Omit<DateInputProps, 'validate'>) {
  const { field, problem } = useNotInPart()
  return (
    <DateInput {...props} validate={problem} slotProps={{ htmlInput: { ref: field, max: LATEST_DAY } }} />
  )
}

/** A moment as the field has it: browsers leave out seconds that are 0. */
const inputValue = (moment: unknown) =>
  String(moment ?? '')
    .replace(' ', 'T')
    .replace(/(:\d\d):00$/, '$1')

/** A date and time in UTC, as the server writes it: the browser's time zone plays no part. */
export function MomentInput({
  missing,
  ...rest
}: {
  source: string
  label: string
  /** What is said if it is empty; without it, it may be. */
  missing?: string
} & Pick<TextInputProps, 'helperText'>) {
  const { field, problem } = useNotInPart()
  return (
    // Not controlled: in Firefox a part that is deleted would take the others with it.
    <DateTimeInput
      format={inputValue}
      parse={typed => (typed ? `${String(typed).replace('T', ' ')}:00`.slice(0, 19) : '')}
      validate={[problem, ...(missing ? [required(missing)] : [])]}
      slotProps={{
        htmlInput: { ref: field, step: 1, max: `${LATEST_DAY}T23:59:59` },
      }}
      {...rest}
    />
  )
}

/** A day in the filters of a list: one that is typed in part filters nothing yet. */
export const DayFilter = (props: DateInputProps) => (
  <DateInput {...props} slotProps={{ htmlInput: { max: LATEST_DAY } }} />
)
