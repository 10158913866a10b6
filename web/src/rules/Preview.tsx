/** Commission preview of a sale under the rule that is being edited. */
import { Card, Stack, TextField, Typography } from '@mui/material'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import { HttpError, useRecordContext } from 'react-admin'
import { useWatch } from 'react-hook-form'
import type { Static } from 'typebox'
import {
  definitions,
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
import { messageOf, request } from '../api.ts'
import { useMoney } from '../ui/format.ts'
import { argumentsOf, type Rule, rowsIn, valueProblem } from './rule.ts'

type Answer = Static<typeof previewSchema>

interface Fact {
  /** An argument of the preview, or of a line of it. */
  readonly name: keyof PreviewArguments | keyof PreviewLine
  readonly label: string
  readonly isNumber: boolean
}

/** What conditions can ask of the sale itself. */
const asked = fields.filter(field => !isTier(field) && field !== 'amount')

const facts: readonly Fact[] = [
  { name: 'amount', label: 'Amount', isNumber: true },
  { name: 'tax', label: 'Tax in it', isNumber: true },
  { name: 'shipping', label: 'Shipping in it', isNumber: true },
  ...asked.map(name => ({ name, label: definitions[name].label, isNumber: isNumberField(name) })),
  { name: 'date', label: 'Date (YYYY-MM-DD)', isNumber: false },
]

type Sale = Readonly<Record<string, string>>

/** Debounce of the preview request. */
const WAIT_MS = 250

export function Preview() {
  const [sale, setSale] = useState<Sale>({ amount: '100', order: '1' })
  const typed: Record<string, unknown> = useWatch()
  const replaced = useRecordContext<Rule>()
  const body = JSON.stringify(questionOf(sale, typed, replaced))
  const question = useDeferredValue(body)
  const missing = missingOf(sale, typed)
  const { data, error } = useQuery({
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
  const { currency } = useMoney()
  return (
    <Card component="section" aria-label="What a sale would earn" sx={{ p: { xs: 2, sm: 2.5 }, mb: 2 }}>
      <Typography variant="h2" sx={{ mb: 1.5 }}>
        What a sale would earn
      </Typography>
      <Stack direction="row" sx={{ gap: 1.5, flexWrap: 'wrap', '& > *': { flex: '1 1 120px' } }}>
        {facts.map(({ name, label }) => (
          <TextField
            key={name}
            size="small"
            label={
              name === 'amount' ? `${label} (${sale.currency?.trim().toUpperCase() || currency})` : label
            }
            value={sale[name] ?? ''}
            onChange={({ target }) => setSale({ ...sale, [name]: target.value })}
            slotProps={{ htmlInput: { autoComplete: 'off' } }}
          />
        ))}
      </Stack>
      <Stack aria-live="polite" sx={{ mt: 2, gap: 0.75 }}>
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

function Outcome({ error, answer }: { error: unknown; answer: Answer | undefined }) {
  if (error) return <Problem error={error} />
  return answer ? <Result answer={answer} /> : null
}

function Problem({ error }: { error: unknown }) {
  const isUnfinished = error instanceof HttpError && error.status === 400
  return (
    <Typography variant="body2" sx={{ color: 'text.secondary' }}>
      {isUnfinished ? `The rule is incomplete. ${messageOf(error)}` : messageOf(error)}
    </Typography>
  )
}

function Result({ answer: { sentences, tried } }: { answer: Answer }) {
  const [summary, ...reasons] = sentences
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
          <bdi>{name}</bdi>: {because}
        </Typography>
      ))}
    </>
  )
}

const isBlank = (typed: unknown) => String(typed ?? '').trim() === ''
const isNoNumber = (typed: unknown) => Number.isNaN(Number(typed ?? 0))

/** The first missing or invalid input. */
function missingOf(sale: Sale, typed: Record<string, unknown>): string | undefined {
  if (isBlank(typed.rate)) return 'Enter a rate to see what a sale would earn.'
  const rows = rowsIn(typed)
  if (rows.some(row => !row.field || !row.how || valueProblem(row))) {
    return 'Finish the conditions, or remove them, to see what a sale would earn.'
  }
  if (['rate', 'priority', ...WHOLE].some(name => isNoNumber(typed[name]))) {
    return "Enter the rule's numbers with a point before the decimals to see what a sale would earn."
  }
  const wrong = facts.find(({ name, isNumber }) => isNumber && isNoNumber(sale[name]))
  return wrong && `${wrong.label}: write a number, with a point before the decimals.`
}

/** Empty facts are left out. */
function questionOf(sale: Sale, typed: Record<string, unknown>, replaced: Rule | undefined): object {
  const filled = facts
    .filter(({ name }) => !isBlank(sale[name]))
    .map(({ name, isNumber }) => [name, isNumber ? Number(sale[name]) : sale[name]!.trim()] as const)
  const isOfLine = (name: string) => asked.some(field => field === name && isLineField(field))
  const line = Object.fromEntries(filled.filter(([name]) => isOfLine(name)))
  const { name, rate, priority, condition_rows, ...rest } = argumentsOf(typed)
  const isOf = (id: unknown) => typeof id === 'number' && id > 0
  return {
    amount: 0,
    ...Object.fromEntries(filled.filter(([name]) => !isOfLine(name))),
    ...(Object.keys(line).length > 0 && { lines: [{ ...line, amount: Number(sale.amount || 0) }] }),
    ...(isOf(rest.affiliate_id) && { affiliate_id: rest.affiliate_id }),
    ...(isOf(rest.group_id) && { group_id: rest.group_id }),
    ...(replaced && { rule_id: replaced.id }),
    rule: {
      ...ofRule(rest),
      name: name || 'This rule',
      rate: Number(rate || 0),
      priority: Number(priority || 0),
    },
  }
}

const sent = [
  'affiliate_id',
  'group_id',
  'kinds',
  'conditions',
  'rate_type',
  'base',
  'max_months',
  'max_payments',
  'hold_days',
  'from',
  'until',
] as const

const WHOLE = new Set<string>(['max_months', 'max_payments', 'hold_days'])

function ofRule(values: Record<string, unknown>): object {
  return Object.fromEntries(
    sent
      .filter(name => values[name] !== undefined && values[name] !== '')
      .map(name => [name, WHOLE.has(name) ? Number(values[name]) : values[name]]),
  )
}
