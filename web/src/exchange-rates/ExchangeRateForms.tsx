import { Button } from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import { required, TextInput, useDataProvider, useGetList, useRecordContext } from 'react-admin'
import { useFormContext, useWatch } from 'react-hook-form'
import { useSearchParams } from 'react-router-dom'
import type { Referral } from '../referrals/referral.ts'
import { useCan, useSession } from '../session.tsx'
import { FormSection, Row, useWarning } from '../ui/form.tsx'
import { day } from '../ui/format.ts'
import { DECIMAL_MARK, withPoint } from '../ui/numbers.ts'
import { DeleteRecord, RecordCreate, RecordEdit } from '../ui/RecordForms.tsx'
import { type ExchangeRate, nameOf } from './exchange-rate.ts'
import { exchangeRates } from './pages.ts'

type Values = Record<string, unknown>

const argumentsOf = ({ date, ...values }: Values): Values => ({ ...values, ...(date ? { date } : {}) })

/** The query string may preset the currency and the day: those of a draft that waits for the rate. */
export function ExchangeRateCreate() {
  const { currency } = useSession().settings
  const [known] = useSearchParams()
  return (
    <RecordCreate
      of={exchangeRates}
      title="Enter exchange rate"
      defaults={{
        from_currency: known.get('from_currency') ?? '',
        to_currency: currency,
        date: known.get('date') ?? '',
      }}
      argumentsOf={argumentsOf}
    >
      <Fields />
    </RecordCreate>
  )
}

export function ExchangeRateEdit() {
  return (
    <RecordEdit<ExchangeRate>
      of={exchangeRates}
      nameOf={nameOf}
      argumentsOf={argumentsOf}
      actions={rate => (
        <DeleteRecord of={exchangeRates} record={rate} name={`exchange rate ${rate.id}`}>
          The rate is deleted for good. Amounts already converted stay as they are.
        </DeleteRecord>
      )}
    >
      <Fields />
    </RecordEdit>
  )
}

/** How many of the latest rates a new one is compared with. */
const COMPARED = 100
/** By how many times a rate may differ from the one nearest in time without a warning. */
const MOST_TIMES = 5

/** 'YYYY-MM-DD', with or without a time, in UTC. */
const timeOf = (date: string) => Date.parse(date.includes(' ') ? `${date.replace(' ', 'T')}Z` : date)

/** Warns of a rate that is far from the known one nearest in time: of a decimal point in the wrong place. */
function useFarFromNearest() {
  const [id, from, to, date] = useWatch({ name: ['id', 'from_currency', 'to_currency', 'date'] })
  const dataProvider = useDataProvider()
  const { data, isFetching, refetch } = useQuery({
    queryKey: ['exchange-rates', 'getList', { from, to }],
    queryFn: () =>
      dataProvider.getList<ExchangeRate>('exchange-rates', {
        filter: { from_currency: from, to_currency: to },
        pagination: { page: 1, perPage: COMPARED },
        sort: { field: 'date', order: 'DESC' },
      }),
    enabled: currencyProblem(from) === undefined && currencyProblem(to) === undefined,
    staleTime: 0,
  })
  return useWarning(async text => {
    if (rateProblem(text)) return undefined
    const at = date ? timeOf(String(date)) : Date.now()
    const distance = (rate: ExchangeRate) => Math.abs(timeOf(rate.date) - at)
    // What is on its way is waited for: on a slow connection somebody has typed, and saves, before it is there.
    const known = isFetching ? (await refetch({ cancelRefetch: false })).data : data
    const [nearest] = (known?.data ?? [])
      .filter(rate => rate.id !== id)
      .sort((a, b) => distance(a) - distance(b))
    if (!nearest) return undefined
    const times = Number(text) / Number(nearest.rate)
    if (times <= MOST_TIMES && times >= 1 / MOST_TIMES) return undefined
    return `${text} is ${Number(times.toPrecision(2))} times the rate of ${day(nearest.date)}. Save again if it is meant.`
  })
}

/** Where it is emptied, nothing would change. */
const stored = required('Type since when it is valid.')

function Fields() {
  const farFromNearest = useFarFromNearest()
  const isNew = useRecordContext() === undefined
  return (
    <FormSection
      title="Exchange rate"
      hint="Sales are converted at the latest rate on or before their date. Amounts already converted keep their rate."
    >
      <Row>
        <Currency source="from_currency" label="From currency" />
        <TextInput
          source="rate"
          label="Rate"
          parse={withPoint}
          validate={[required('Type the rate.'), rateProblem, farFromNearest]}
          helperText="What one unit is worth in the other currency, such as 1.0842."
          slotProps={{ htmlInput: { inputMode: 'decimal', autoComplete: 'off' } }}
        />
        <Currency source="to_currency" label="To currency" />
      </Row>
      <TextInput
        source="date"
        label="Valid from"
        parse={typed => typed}
        {...(isNew
          ? {
              helperText:
                'YYYY-MM-DD or YYYY-MM-DD HH:MM:SS, in UTC. Empty: from now on, so that drafts of earlier sales go on waiting: for them, type the day of the oldest sale.',
            }
          : { helperText: 'YYYY-MM-DD or YYYY-MM-DD HH:MM:SS, in UTC.', validate: stored })}
      />
      <OldestDraft />
    </FormSection>
  )
}

/** Offers the day of the oldest draft that waits for this rate, so that it is early enough for all that wait. */
function OldestDraft() {
  const { setValue } = useFormContext()
  const isNew = useRecordContext() === undefined
  const { currency } = useSession().settings
  const [from, to] = useWatch({ name: ['from_currency', 'to_currency'] })
  const isAsked = isNew && to === currency && currencyProblem(from) === undefined
  const { data } = useGetList<Referral>(
    'referrals',
    {
      filter: { status: 'draft', reason: 'no_exchange_rate', original_currency: from },
      pagination: { page: 1, perPage: 1 },
      sort: { field: 'date', order: 'ASC' },
    },
    { enabled: useCan()('referrals.read') && isAsked },
  )
  const [oldest] = data ?? []
  if (!oldest || !isAsked) return null
  const date = oldest.date.slice(0, 10)
  return (
    <Button
      sx={{ alignSelf: 'flex-start' }}
      onClick={() => setValue('date', date, { shouldDirty: true, shouldTouch: true })}
    >
      Valid from {day(date)}, the day of the oldest draft in {from}
    </Button>
  )
}

function Currency(inputProps: { source: string; label: string }) {
  return (
    <TextInput
      {...inputProps}
      parse={typed => String(typed).toUpperCase()}
      validate={[required('Type the currency.'), currencyProblem]}
      helperText="Three-letter code, such as EUR."
      slotProps={{ htmlInput: { maxLength: 3, autoComplete: 'off', spellCheck: false } }}
    />
  )
}

const currencyProblem = (typed: unknown) =>
  /^[A-Z]{3}$/.test(String(typed ?? '')) ? undefined : 'Enter a three-letter currency code.'

function rateProblem(typed: unknown): string | undefined {
  const text = String(typed ?? '').trim()
  if (/^\d{1,12}(\.\d{1,12})?$/.test(text) && Number(text) > 0) return undefined
  return `Enter a number above 0, with a ${DECIMAL_MARK} before the decimals.`
}
