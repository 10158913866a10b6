/** Forms: what the server has against them stands at the button, and at the field that it is about. */
import { Alert, Box, Button, Card, Stack, Typography } from '@mui/material'
import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from 'react'
import { Form, type FormProps, required, SaveButton, TextInput, type TextInputProps } from 'react-admin'
import { useFormState, useWatch } from 'react-hook-form'
import { useCan, useSession } from '../session.tsx'
import { type Money, useMoney } from './format.ts'
import { useGoBack } from './lists.ts'

/**
 * A field is checked when it is left, and nothing that was typed is lost by going away without being asked. What is
 * wrong is said at the field, by this page or the server: not by the browser, in its own words and one at a time.
 */
export function CarefulForm({ needs, children, ...rest }: FormProps & { needs?: string }) {
  const may = useCan()
  return (
    <Form mode="onTouched" noValidate warnWhenUnsavedChanges disableInvalidFormNotification {...rest}>
      {needs === undefined || may(needs) ? children : <OnlyRead needs={needs}>{children}</OnlyRead>}
    </Form>
  )
}

const Locked = createContext(false)

/** The same fields for who may look at them and not change them. */
function OnlyRead({ needs, children }: { needs: string; children: ReactNode }) {
  return (
    <Locked value={true}>
      <Alert severity="info" sx={{ mb: 2 }}>
        You can look at this. To change it needs the permission {needs}, which your role does not have.
      </Alert>
      <Box
        component="fieldset"
        disabled
        sx={{ border: 0, p: 0, m: 0, minWidth: 0, '& [role=combobox], & button': { pointerEvents: 'none' } }}
      >
        {children}
      </Box>
    </Locked>
  )
}

/** Tells what is outside of the form whether something was typed that is not saved. */
export function UnsavedChanges({ onChange }: { onChange: (unsaved: boolean) => void }) {
  const { isDirty } = useFormState()
  useEffect(() => onChange(isDirty), [isDirty, onChange])
  return null
}

export function FormSection({
  title,
  hint,
  children,
}: {
  title: string
  hint?: ReactNode
  children: ReactNode
}) {
  return (
    <Card sx={{ p: { xs: 2, sm: 3 }, mb: 2 }}>
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

/** Fields side by side where there is room. */
export function Row({ children }: { children: ReactNode }) {
  return (
    <Stack direction={{ xs: 'column', sm: 'row' }} sx={{ gap: 2, '& > *': { flex: 1, minWidth: 0 } }}>
      {children}
    </Stack>
  )
}

/** @param back where Cancel leads when one came from nowhere */
export function FormButtons({ label = 'Save', back }: { label?: string; back?: string }) {
  if (useContext(Locked)) return null
  return (
    <>
      <ServerProblem />
      <FieldProblems />
      <Stack direction="row" sx={{ gap: 1.5, alignItems: 'center', flexWrap: 'wrap' }}>
        <SaveButton label={label} icon={null} size="large" alwaysEnable />
        {back && <Cancel to={back} />}
      </Stack>
    </>
  )
}

function Cancel({ to }: { to: string }) {
  return <Button onClick={useGoBack(to)}>Cancel</Button>
}

/** What the server said, beside the buttons that sent the form. What is said at a field is not said here again. */
function ServerProblem() {
  const { errors } = useFormState()
  const alert = useRef<HTMLDivElement>(null)
  const { root, ...fieldErrors } = errors
  const message: { message?: string } | string | undefined = root?.serverError
  const text = typeof message === 'string' ? message : message?.message
  const withoutField = Object.values(fieldErrors).filter(
    error => error?.type === 'server' && !('ref' in error && error.ref),
  )
  useEffect(() => {
    if (text) alert.current?.closest('form')?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [text])
  if (!text) return null
  return (
    <Alert severity="error" sx={{ mb: 2 }} ref={alert}>
      {text}
      {withoutField.map(error => ` ${error?.message}`)}
    </Alert>
  )
}

/** What kept the form from being sent: the fields may stand far above the button. */
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

/** The numbers of referrals, as the server takes them. */
export function numbersProblem(typed: unknown): string | undefined {
  const numbers = String(typed ?? '')
    .split(',')
    .map(part => part.trim())
  if (numbers.join('') === '' || numbers.every(text => /^[1-9]\d{0,14}$/.test(text))) return undefined
  return 'Write the numbers with commas between them, such as 12, 15.'
}

const NO_AMOUNT = 'Type an amount. It may be 0.'

/** An amount, which has to be typed. It is kept as the text that was typed: no spinner, no wheel, no rounding. */
export function MoneyInput({
  source,
  label,
  signed = false,
  ...rest
}: {
  source: string
  label: string
  /** Whether it may be below 0. */
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
      parse={typed => typed}
      validate={[required(NO_AMOUNT), typed => problem(String(typed ?? '').trim())]}
      helperText={valid ? `= ${money.full(text)}` : `In ${money.currency}, with a point: ${example(money)}`}
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

/** A moment in UTC, as the server writes them: no clock of a browser's own comes between. */
export function MomentInput({
  source,
  label,
  helperText,
}: {
  source: string
  label: string
  helperText: string | false
}) {
  return (
    <TextInput
      source={source}
      label={label}
      type="datetime-local"
      format={value => (value ? String(value).replace(' ', 'T') : '')}
      parse={typed => (typed ? `${String(typed).replace('T', ' ')}:00`.slice(0, 19) : '')}
      helperText={helperText}
      slotProps={{ inputLabel: { shrink: true }, htmlInput: { step: 1 } }}
    />
  )
}

/** For an amount that need not be given. */
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
  if (text.includes(',')) return 'Write the amount without commas, and with a point before the decimals.'
  if (!/^\d+(\.\d+)?$/.test(text)) return 'Write a number that is not negative.'
  if ((text.split('.')[1]?.length ?? 0) > decimals) {
    return decimals === 0 ? `${currency} has no decimals.` : `${currency} has at most ${decimals} decimals.`
  }
  return undefined
}

const example = ({ decimals }: Money) =>
  decimals === 0 ? '1250' : `1250.${'50'.padEnd(decimals, '0').slice(0, decimals)}`

/**
 * A rate as text, so that "not set" and zero stay apart. More than all of a sale is most often a slip: it is said, and
 * saved when it is sent again.
 * @param missing what to say when it is empty; without it, it need not be given
 * @param typeSource the field with the rate type; without one, or empty there, the default's counts
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
  const type = useWatch({ name: typeSource }) || default_rate_type
  const { submitCount } = useFormState()
  const announced = useRef({ text: '', submitCount: 0 })
  const problemOf = (typed: unknown) => {
    const text = rateOf(typed)
    if (type !== 'percentage' || Number(text) <= 100) return undefined
    // A form is checked more often than it is sent: what was said before the last time was seen.
    if (announced.current.text !== text) announced.current = { text, submitCount }
    if (announced.current.submitCount < submitCount) return undefined
    return 'That is more than the whole sale. Save again if it is meant.'
  }
  return (
    <TextInput
      source={source}
      label={label}
      format={value => (value === undefined || value === null ? '' : String(value))}
      parse={typed => typed}
      validate={[...(missing ? [required(missing)] : []), typed => rateProblem(rateOf(typed)), problemOf]}
      helperText={helperText ?? false}
      slotProps={{ htmlInput: { inputMode: 'decimal', autoComplete: 'off' } }}
    />
  )
}

function rateProblem(text: string): string | undefined {
  if (text === '' || /^\d{1,9}(\.\d{1,4})?$/.test(text)) return undefined
  return 'Write a number from 0 on, with at most 4 decimals and a point before them.'
}

/** A rate as the server takes and shows it: a number as text, or '' for "not set". */
export function rateOf(typed: unknown): string {
  return String(typed ?? '').trim()
}
