/** Commission preview of a sale under the rule that is being edited. */
import { Card, MenuItem, Stack, TextField, Typography } from '@mui/material'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, useDeferredValue, useState } from 'react'
import { HttpError, useRecordContext } from 'react-admin'
import { useWatch } from 'react-hook-form'
import type { Static } from 'typebox'
import {
  definitions,
  type Field,
  fields,
  isLineField,
  isNumberField,
  isTier,
} from '../../../src/programme/commission/conditions.ts'
import type {
  PreviewArguments,
  PreviewLine,
  previewSchema,
} from '../../../src/programme/commission/preview.ts'
import { kinds } from '../../../src/programme/commission/sale.ts'
import { envelopeOf, messageOf, request } from '../api.ts'
import { useMoney } from '../ui/format.ts'
import { DECIMAL_MARK, sentenceHere, withPoint } from '../ui/numbers.ts'
import { capital } from '../ui/words.ts'
import { argumentsOf, type ConditionRow, type Rule, rowsIn, terms, valueProblem } from './rule.ts'

type Answer = Static<typeof previewSchema>

interface Fact {
  /** An argument of the preview, or of a line of it. */
  readonly name: keyof PreviewArguments | keyof PreviewLine
  readonly label: string
  readonly isNumber: boolean
}

/** What conditions can ask beside the amount. */
const asked = fields.filter(field => field !== 'amount')

/** Labels that would be cut in a narrow field. */
const short: Partial<Record<Field, string>> = {
  order: 'Order number',
  months: 'Month',
  sales_in_month: 'Sales in month',
  sales_ever: 'Sales so far',
  volume_in_month: 'Volume in month',
  volume_ever: 'Volume so far',
}

const hints: Readonly<Record<string, string>> = {
  order: 'Of the customer',
  months: 'Since their first order',
  date: 'YYYY-MM-DD',
}

const facts: readonly Fact[] = [
  { name: 'amount', label: 'Amount', isNumber: true },
  { name: 'tax', label: 'Tax in it', isNumber: true },
  { name: 'shipping', label: 'Shipping in it', isNumber: true },
  ...asked.map(name => ({
    name,
    label: short[name] ?? definitions[name].label,
    isNumber: isNumberField(name),
  })),
  { name: 'date', label: 'Date', isNumber: false },
]

/** The sales so far are asked for where the rule looks at them. */
const factsFor = (rows: readonly ConditionRow[]) =>
  facts.filter(({ name }) => !tiers.has(name) || rows.some(({ field }) => field === name))

const tiers: ReadonlySet<string> = new Set(fields.filter(isTier))

type Sale = Readonly<Record<string, string>>

/** Debounce of the preview request. */
const WAIT_MS = 250

const apart = {
  sx: { p: 2, mb: 2 },
  // The fields are no part of the form around them, which Enter would save.
  onKeyDown: (event: KeyboardEvent) => {
    if (event.key === 'Enter') event.preventDefault()
  },
}

export function Preview() {
  const [sale, setSale] = useState<Sale>({ amount: '100', order: '1' })
  const typed: Record<string, unknown> = useWatch()
  const kind = sale.kind ?? firstKindOf(typed)
  const replaced = useRecordContext<Rule>()
  const body = JSON.stringify(questionOf({ ...sale, kind }, typed, replaced))
  const question = useDeferredValue(body)
  const { currency, decimals } = useMoney()
  const missing = missingOf(sale, typed, decimals)
  const { data, error, isPlaceholderData } = useQuery({
    enabled: missing === undefined,
    queryKey: ['rules', 'preview', question],
    queryFn: async ({ signal }) => {
      await new Promise(resolve => setTimeout(resolve, WAIT_MS))
      signal.throwIfAborted()
      return (await request<Answer>('POST', 'rules/preview', { body: JSON.parse(question), signal })).body
    },
    placeholderData: keepPreviousData,
    retry: false,
  })
  const wrong = paramsOf(error)
  return (
    <Card component="section" aria-label="What a sale would earn" {...apart}>
      <Typography variant="h2" sx={{ mb: 1.5 }}>
        What a sale would earn
      </Typography>
      <Stack direction="row" sx={{ gap: 1.5, flexWrap: 'wrap', '& > *': { flex: '1 1 120px' } }}>
        <Kind value={kind} onChange={kind => setSale({ ...sale, kind })} />
        {factsFor(rowsIn(typed)).map(({ name, label, isNumber }) => (
          <TextField
            key={name}
            size="small"
            error={name in wrong}
            helperText={wrong[name] ?? hints[name]}
            label={
              name === 'amount' ? `${label} (${sale.currency?.trim().toUpperCase() || currency})` : label
            }
            value={sale[name] ?? ''}
            onChange={({ target: { value } }) =>
              setSale({ ...sale, [name]: isNumber ? withPoint(value) : value })
            }
            slotProps={{ htmlInput: { autoComplete: 'off' } }}
          />
        ))}
      </Stack>
      <Stack aria-live="polite" aria-busy={isPlaceholderData || question !== body} sx={{ mt: 2, gap: 0.75 }}>
        {missing === undefined ? (
          <Outcome error={error} answer={data} />
        ) : (
          <Typography variant="body2" sx={{ color: 'text.secondary' }}>
            {missing}
          </Typography>
        )}
      </Stack>
    </Card>
  )
}

/** What the rule is for, until another kind is chosen. */
function firstKindOf({ kinds: ofRule }: Record<string, unknown>): string {
  const chosen = Array.isArray(ofRule) ? kinds.filter(kind => ofRule.includes(kind)) : []
  return chosen.includes('sale') ? 'sale' : (chosen[0] ?? 'sale')
}

function Kind({ value, onChange }: { value: string; onChange: (kind: string) => void }) {
  return (
    <TextField
      select
      size="small"
      label="Kind"
      value={value}
      onChange={({ target }) => onChange(target.value)}
    >
      {kinds.map(kind => (
        <MenuItem key={kind} value={kind}>
          {capital(kind)}
        </MenuItem>
      ))}
    </TextField>
  )
}

function Outcome({ error, answer }: { error: unknown; answer: Answer | undefined }) {
  if (error) return <Problem error={error} />
  return answer ? <Result answer={answer} /> : null
}

/** What is wrong, by argument. */
function paramsOf(error: unknown): Record<string, string> {
  const { params } = envelopeOf(error).data ?? {}
  return params && !Array.isArray(params) ? params : {}
}

function Problem({ error }: { error: unknown }) {
  const isUnfinished = error instanceof HttpError && error.status === 400
  const ofRule = Object.keys(paramsOf(error)).some(name => name.startsWith('rule'))
  return (
    <Typography variant="body2" sx={{ color: 'text.secondary' }}>
      {isUnfinished
        ? `${ofRule ? 'The rule' : 'The sample sale'} is not complete or not valid. ${messageOf(error)}`
        : messageOf(error)}
    </Typography>
  )
}

function Result({ answer: { sentences, tried } }: { answer: Answer }) {
  const [summary, ...reasons] = sentences.map(sentenceHere)
  const obstacles = tried.filter(({ applies }) => !applies)
  return (
    <>
      <Typography sx={{ fontWeight: 620 }}>{summary}</Typography>
      {reasons.map(sentence => (
        <Typography key={sentence} variant="body2">
          {sentence}
        </Typography>
      ))}
      {obstacles.length > 0 && (
        <Typography variant="body2" sx={{ mt: 1, color: 'text.secondary' }}>
          Tried before, in this order:
        </Typography>
      )}
      {obstacles.map(({ rule_id, name, because }) => (
        <Typography key={rule_id} variant="body2" sx={{ color: 'text.secondary' }}>
          <bdi>{name}</bdi>: {sentenceHere(because)}
        </Typography>
      ))}
    </>
  )
}

const isBlank = (typed: unknown) => String(typed ?? '').trim() === ''
const isNoNumber = (typed: unknown) => !isBlank(typed) && !/^-?\d+(\.\d+)?$/.test(String(typed).trim())

/** The first missing or invalid input. */
function missingOf(sale: Sale, typed: Record<string, unknown>, decimals: number): string | undefined {
  if (isBlank(typed.rate)) return 'Enter a rate to see what a sale would earn.'
  const rows = rowsIn(typed)
  if (rows.some(row => !row.field || !row.how || valueProblem(row, decimals))) {
    return 'Finish the conditions, or remove them, to see what a sale would earn.'
  }
  if (['rate', 'priority', ...numbersSent].some(name => isNoNumber(typed[name]))) {
    return `Enter the rule's numbers with a ${DECIMAL_MARK} before the decimals to see what a sale would earn.`
  }
  const wrong = factsFor(rows).find(({ name, isNumber }) => isNumber && isNoNumber(sale[name]))
  return wrong && `${wrong.label}: write a number, with a ${DECIMAL_MARK} before the decimals.`
}

/** Empty facts are left out. */
function questionOf(sale: Sale, typed: Record<string, unknown>, replaced: Rule | undefined): object {
  const filled = factsFor(rowsIn(typed))
    .filter(({ name }) => !isBlank(sale[name]))
    .map(({ name, isNumber }) => [name, isNumber ? Number(sale[name]) : sale[name]!.trim()] as const)
  const isOfLine = (name: string) => asked.some(field => field === name && isLineField(field))
  const line = Object.fromEntries(filled.filter(([name]) => isOfLine(name)))
  const { name, rate, priority, condition_rows, ...rest } = argumentsOf(typed)
  const isOf = (id: unknown) => typeof id === 'number' && id > 0
  return {
    kind: sale.kind,
    amount: 0,
    ...Object.fromEntries(filled.filter(([name]) => !isOfLine(name))),
    ...(Object.keys(line).length > 0 && { lines: [{ ...line, amount: Number(sale.amount || 0) }] }),
    ...(isOf(rest.affiliate_id) && { affiliate_id: rest.affiliate_id }),
    ...(isOf(rest.group_id) && { group_id: rest.group_id }),
    ...(replaced && { rule_id: replaced.rule_id }),
    rule: {
      ...ofRule(rest),
      name: name || 'This rule',
      rate: Number(rate || 0),
      priority: Number(priority || 0),
    },
  }
}

const numbersSent = Object.entries(terms).flatMap(([name, kind]) => (kind === 'number' ? [name] : []))

function ofRule(values: Record<string, unknown>): object {
  return Object.fromEntries(
    Object.entries(terms)
      .filter(([name]) => values[name] !== undefined && values[name] !== '')
      .map(([name, kind]) => [name, kind === 'number' ? Number(values[name]) : values[name]]),
  )
}
