import { required, TextInput } from 'react-admin'
import { useSession } from '../session.tsx'
import { FormSection, Row } from '../ui/form.tsx'
import { DeleteRecord, RecordCreate, RecordEdit } from '../ui/RecordForms.tsx'
import { type ExchangeRate, nameOf } from './exchange-rate.ts'
import { exchangeRates } from './pages.ts'

type Values = Record<string, unknown>

const argumentsOf = ({ date, ...values }: Values): Values => ({ ...values, ...(date ? { date } : {}) })

export function ExchangeRateCreate() {
  const { currency } = useSession().settings
  return (
    <RecordCreate
      of={exchangeRates}
      title="Enter exchange rate"
      defaults={{ to_currency: currency }}
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

function Fields() {
  return (
    <FormSection
      title="Exchange rate"
      hint="Sales are converted at the latest rate on or before their date. Amounts already converted keep their rate."
    >
      <Row>
        <Currency source="from_currency" label="One unit of" />
        <TextInput
          source="rate"
          label="is worth"
          parse={typed => typed}
          validate={[required('Type the rate.'), rateProblem]}
          helperText="With a point, such as 1.0842."
          slotProps={{ htmlInput: { inputMode: 'decimal', autoComplete: 'off' } }}
        />
        <Currency source="to_currency" label="of" />
      </Row>
      <TextInput
        source="date"
        label="Valid from"
        parse={typed => typed}
        helperText="YYYY-MM-DD or YYYY-MM-DD HH:MM:SS, in UTC. Empty: from now on, so that drafts of earlier sales go on waiting: for them, type the day of the oldest sale."
      />
    </FormSection>
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
  return 'Enter a number above 0, with a point before the decimals.'
}
