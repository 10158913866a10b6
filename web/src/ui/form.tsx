/** Forms: server errors are shown at the buttons, and at the field that they belong to. */
import { Alert, Button, Card, Stack, Typography } from '@mui/material'
import { type ReactNode, useContext, useEffect, useEffectEvent, useRef, useState } from 'react'
import {
  Form,
  type FormProps,
  required,
  SaveButton,
  SelectInput,
  TextInput,
  type TextInputProps,
  useSaveContext,
} from 'react-admin'
import { type FieldErrors, useFormContext, useFormState, useWatch } from 'react-hook-form'
import { useCan, useSession } from '../session.tsx'
import { type Money, rateText, useMoney } from './format.ts'
import { CleanOnceStored, whenReadAgain } from './keeping.ts'
import { AskBeforeLeaving } from './leaving.ts'
import { useGoBack } from './lists.ts'
import { DECIMAL_MARK, hasDecimalComma, withPoint } from './numbers.ts'
import { Locked, ReadOnly } from './ReadOnly.tsx'
import { capital, fieldName } from './words.ts'

/**
 * Fields are validated on blur, and leaving with unsaved input asks for confirmation. Errors are shown at the field, by
 * the page or the server: the browser's own validation is off, as it reports one at a time and in its own words.
 */
export function CarefulForm({ needs, children, ...rest }: FormProps & { needs?: string }) {
  const may = useCan()
  return (
    <Form mode="onTouched" noValidate disableInvalidFormNotification resetOptions={whenReadAgain} {...rest}>
      <CleanOnceStored />
      <AskBeforeLeaving />
      {needs === undefined || may(needs) ? children : <ReadOnly needs={needs}>{children}</ReadOnly>}
    </Form>
  )
}

/** Reports to the outside whether the form has unsaved changes. */
export function UnsavedChanges({ onChange }: { onChange: (unsaved: boolean) => void }) {
  const { isDirty } = useFormState()
  useEffect(() => onChange(isDirty), [isDirty, onChange])
  return null
}

/** What the server refuses may rest on what has changed since the page was opened. */
export function useAfterRefusal(act: () => Promise<unknown>) {
  const { errors } = useFormState()
  const refusal = errors.root?.serverError
  const onRefusal = useEffectEvent(act)
  useEffect(() => {
    if (refusal) onRefusal().catch(() => {})
  }, [refusal])
}

/** Takes no input while the form is saved: that would be neither sent nor kept. */
export function FormSection({
  title,
  hint,
  children,
}: {
  title: string
  hint?: ReactNode
  children: ReactNode
}) {
  const { saving = false } = useSaveContext()
  return (
    <Card inert={saving} sx={{ p: { xs: 2, sm: 3 }, mb: 2 }}>
      <Typography variant="h2" sx={{ mb: hint ? 0.25 : 2 }}>
        {title}
      </Typography>
      {hint && (
        <Typography variant="body2" sx={{ color: 'text.secondary', mb: 2 }}>
          {hint}
        </Typography>
      )}
      <Stack sx={{ gap: 2 }}>{children}</Stack>
    </Card>
  )
}

/** Fields side by side where there is room for their labels. */
export function Row({ children }: { children: ReactNode }) {
  return (
    <Stack
      direction={{ xs: 'column', sm: 'row' }}
      sx={{ gap: 2, flexWrap: { sm: 'wrap' }, '& > *': { flex: { xs: 1, sm: '1 1 190px' }, minWidth: 0 } }}
    >
      {children}
    </Stack>
  )
}

/** @param back where Cancel leads when there is no previous page in this visit */
export function FormButtons({ label = 'Save', back }: { label?: string; back?: string }) {
  const { isSubmitting, errors } = useFormState()
  const { clearErrors } = useFormContext()
  const { saving } = useSaveContext()
  const buttons = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const focused = document.activeElement
    const isLost = focused === document.body || focused?.closest('[inert]')
    if (saving && isLost) buttons.current?.querySelector('button')?.focus()
  }, [saving])
  if (useContext(Locked)) return null
  return (
    <>
      <ServerProblem />
      <FieldProblems />
      <Stack ref={buttons} direction="row" sx={{ gap: 1.5, alignItems: 'center', flexWrap: 'wrap' }}>
        <SaveButton
          label={label}
          icon={null}
          size="large"
          // Disabled while it saves, it would lose the focus.
          alwaysEnable
          onClick={event => {
            if (isSubmitting) event.preventDefault()
            // No field takes them back, and the form is not saved while there are any.
            else clearErrors(withoutField(errors))
          }}
        />
        {back && <Cancel to={back} />}
      </Stack>
    </>
  )
}

function Cancel({ to }: { to: string }) {
  return <Button onClick={useGoBack(to)}>Cancel</Button>
}

/** The server's error, at the buttons. Errors of fields are not repeated here. */
function ServerProblem() {
  const { errors } = useFormState()
  const { saving } = useSaveContext()
  const alert = useRef<HTMLDivElement>(null)
  const message: { message?: string } | string | undefined = errors.root?.serverError
  const text = typeof message === 'string' ? message : message?.message
  useEffect(() => {
    if (!text || saving) return
    alert.current?.closest('form')?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [text, saving])
  if (!text) return null
  return (
    <Alert severity="error" sx={{ mb: 2 }} ref={alert}>
      {text}
      {withoutField(errors).map(name => ` ${capital(fieldName(name))}: ${errors[name]?.message}`)}
    </Alert>
  )
}

/** The names of what the server has said of no field of the form. */
function withoutField({ root: _root, ...errors }: FieldErrors): string[] {
  return Object.entries(errors)
    .filter(([, error]) => error?.type === 'server' && !('ref' in error && error.ref))
    .map(([name]) => name)
}

/** Names the invalid fields, which may be far above the button. */
function FieldProblems() {
  const { errors, submitCount } = useFormState()
  const alert = useRef<HTMLDivElement>(null)
  const [labels, setLabels] = useState<string[]>([])
  const names = Object.entries(errors)
    .filter(([name, error]) => name !== 'root' && error?.type !== 'server')
    .map(([name]) => name)
    .join(' ')
  useEffect(() => {
    if (submitCount > 0 && names !== '') setLabels(labelsOf(alert.current?.closest('form')))
  }, [submitCount, names])
  if (submitCount === 0 || names === '') return null
  return (
    <Alert severity="error" sx={{ mb: 2 }} ref={alert}>
      Not saved. Look at {labels.length === 0 ? 'the fields that are marked' : labels.join(', ')}.
    </Alert>
  )
}

function labelsOf(form: HTMLFormElement | null | undefined): string[] {
  const fields = [...(form?.querySelectorAll('[aria-invalid=true]') ?? [])]
  const labels = fields.map(field =>
    field
      .closest('.MuiFormControl-root')
      ?.querySelector('label')
      ?.textContent?.replace(/\s*\*$/, ''),
  )
  return [...new Set(labels)].filter(label => label !== undefined)
}

/** Validates a comma-separated list of referral numbers. */
export function numbersProblem(typed: unknown): string | undefined {
  const numbers = String(typed ?? '')
    .split(',')
    .map(part => part.trim())
  if (numbers.join('') === '' || numbers.every(text => /^[1-9]\d{0,14}$/.test(text))) return undefined
  return 'Separate the numbers with commas, such as 12, 15.'
}

const NO_AMOUNT = 'Enter an amount. It may be 0.'

/** A required amount. It stays text: no spinner, no mouse wheel, no rounding. */
export function MoneyInput({
  source,
  label,
  signed = false,
  ...rest
}: {
  source: string
  label: string
  /** Whether negative amounts are allowed. */
  signed?: boolean
} & Partial<TextInputProps>) {
  const money = useMoney()
  const value = useWatch({ name: source })
  const text = String(value ?? '').trim()
  const problem = (typed: string) => amountProblem(signed ? typed.replace(/^-/, '') : typed, money)
  const valid = !problem(text)
  return (
    <TextInput
      source={source}
      label={label}
      format={value => (typeof value === 'number' ? value.toFixed(money.decimals) : (value ?? ''))}
      parse={withPoint}
      validate={[required(NO_AMOUNT), typed => problem(String(typed ?? '').trim())]}
      helperText={valid ? `= ${money.full(text)}` : `In ${money.currency}, such as ${example(money)}`}
      slotProps={{
        htmlInput: {
          inputMode: 'decimal',
          autoComplete: 'off',
          style: { fontVariantNumeric: 'tabular-nums' },
        },
        input: {
          startAdornment: <Typography sx={{ color: 'text.secondary', mr: 0.75 }}>{money.sign}</Typography>,
        },
      }}
      {...rest}
    />
  )
}

/** A required choice among a few values. */
export function ChoiceInput({
  missing,
  ...rest
}: {
  source: string
  label: string
  choices: { id: string; name: string }[]
  helperText?: string | false
  disabled?: boolean
  /** What is said if nothing is chosen. */
  missing?: string
}) {
  return (
    <SelectInput
      margin="none"
      translateChoice={false}
      validate={required(missing)}
      helperText={false}
      {...rest}
    />
  )
}

/** Validates an optional amount. */
export function optionalAmount(money: Money) {
  return (typed: unknown) => {
    const text = String(typed ?? '').trim()
    return text === '' ? undefined : amountProblem(text, money)
  }
}

function amountProblem(
  text: string,
  { decimals, currency }: Pick<Money, 'decimals' | 'currency'>,
): string | undefined {
  if (text === '') return NO_AMOUNT
  if (text.includes(',')) {
    return hasDecimalComma
      ? 'Enter one comma at most, before the decimals.'
      : 'Enter the amount without commas, and with a point before the decimals.'
  }
  if (/[^\d.-]/.test(text)) return 'Enter digits alone, without blanks, signs or letters.'
  if (text.includes('-')) return 'Enter a number that is not negative.'
  if (!/^\d+(\.\d+)?$/.test(text)) return 'Enter one point at most, with digits before and after it.'
  if ((text.split('.')[1]?.length ?? 0) > decimals) {
    const most = decimals === 0 ? 'no' : `at most ${decimals}`
    // Which mark was typed is not known here: a comma has become a point.
    const thousands = /^\d{1,3}\.\d{3}$/.test(text) ? ' Enter thousands without a mark.' : ''
    return `${currency} has ${most} decimals.${thousands}`
  }
  return undefined
}

const example = ({ decimals }: Money) => {
  const mark = hasDecimalComma ? ',' : '.'
  return decimals === 0 ? '1250' : `1250${mark}${'50'.padEnd(decimals, '0').slice(0, decimals)}`
}

type Warning = string | undefined

/**
 * What is most often a slip: the first attempt to save warns, the second saves.
 * @returns the validation of a field
 */
export function useWarning(warningOf: (text: string) => Warning | Promise<Warning>) {
  const { submitCount } = useFormState()
  const announced = useRef({ text: '', submitCount: 0 })
  return async (typed: unknown) => {
    const text = rateOf(typed)
    const warning = await warningOf(text)
    if (warning === undefined) return undefined
    // Validation runs more often than submission: the warning counts as seen once the form was submitted after it.
    if (announced.current.text !== text) announced.current = { text, submitCount }
    return announced.current.submitCount < submitCount ? undefined : warning
  }
}

/**
 * A rate as text, so that "not set" and zero stay distinct. More than 100 % is most often a slip: the first attempt to
 * save warns, the second saves.
 * @param missing error message when it is empty; without it the rate is optional
 * @param typeSource the field with the rate type; without a value there the default type applies
 */
export function RateInput({
  source,
  label,
  helperText,
  missing,
  typeSource = 'rate_type',
}: {
  source: string
  label: string
  helperText?: string
  missing?: string
  typeSource?: string
}) {
  const { default_rate_type } = useSession().settings
  const money = useMoney()
  const type = useWatch({ name: typeSource }) || default_rate_type
  const rate = rateOf(useWatch({ name: source }))
  // A point may have been meant to separate thousands.
  const isAmount = (type === 'flat' || type === 'per_item') && rate !== '' && rateProblem(rate) === undefined
  const means = isAmount ? `= ${rateText({ rate, rate_type: type }, money)}` : undefined
  const problemOf = useWarning(text =>
    type !== 'percentage' || Number(text) <= 100
      ? undefined
      : 'This is more than the whole sale. Save again if that is intended.',
  )
  return (
    <TextInput
      source={source}
      label={label}
      format={value => (value === undefined || value === null ? '' : String(value))}
      parse={withPoint}
      validate={[...(missing ? [required(missing)] : []), typed => rateProblem(rateOf(typed)), problemOf]}
      helperText={means ?? helperText ?? false}
      slotProps={{ htmlInput: { inputMode: 'decimal', autoComplete: 'off' } }}
    />
  )
}

function rateProblem(text: string): string | undefined {
  if (text === '' || /^\d{1,9}(\.\d{1,4})?$/.test(text)) return undefined
  return `Enter a number of 0 or more, with a ${DECIMAL_MARK} and at most 4 decimals.`
}

/** A rate as the API has it: a number as text, or '' for "not set". */
export function rateOf(typed: unknown): string {
  return String(typed ?? '').trim()
}
