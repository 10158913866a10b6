import { Link, Typography } from '@mui/material'
import { TextInput } from 'react-admin'
import { useWatch } from 'react-hook-form'
import { Link as RouterLink } from 'react-router-dom'
import { isBankOrder } from '../../../src/programme/runs/words.ts'
import { GroupInput } from '../groups/GroupInput.tsx'
import { useCan, useSession } from '../session.tsx'
import { DayInput } from '../ui/DayField.tsx'
import { ChoiceInput, FormSection, MoneyInput, numbersProblem, Row } from '../ui/form.tsx'
import { time } from '../ui/format.ts'
import { RecordCreate } from '../ui/RecordForms.tsx'
import { payoutRuns } from './pages.ts'
import { methodsFor, type Run } from './run.ts'

type Values = Record<string, unknown>

/** The cut-off of an earlier run to the second, where it was within a day, and no other day is chosen. */
function exactly({ cut_off, cut_off_time }: Values): string | undefined {
  if (typeof cut_off_time !== 'string' || cut_off_time.endsWith(' 23:59:59')) return undefined
  return cut_off && cut_off_time.startsWith(String(cut_off)) ? cut_off_time : undefined
}

function argumentsOf(values: Values): Values {
  const { method, cut_off, execution_date, minimum, note, exclude, group_id } = values
  const excluded = String(exclude ?? '').trim()
  return {
    method,
    minimum: Number(minimum),
    ...(cut_off ? { cut_off: exactly(values) ?? cut_off } : {}),
    ...(execution_date && isBankOrder(String(method)) ? { execution_date } : {}),
    ...(note ? { note } : {}),
    ...(group_id ? { group_id } : {}),
    ...(excluded && { exclude: excluded.split(',').map(part => Number(part.trim())) }),
  }
}

/** Creating a run reserves nothing: its page shows who is included, and who is excluded and why. */
export function RunCreate() {
  return (
    <RecordCreate
      of={payoutRuns}
      title="Prepare payout run"
      save="Prepare"
      defaults={{ method: 'csv', minimum: '0' }}
      argumentsOf={argumentsOf}
    >
      <Fields />
    </RecordCreate>
  )
}

function Fields() {
  const methods = methodsFor(useSession().settings.currency)
  const method = useWatch({ name: 'method' })
  const [cut_off, cut_off_time] = useWatch({ name: ['cut_off', 'cut_off_time'] })
  const exact = exactly({ cut_off, cut_off_time })
  return (
    <>
      <FormSection
        title="Who is paid"
        hint="The run considers everyone with a balance. Nothing is reserved or paid before you approve it."
      >
        <Row>
          <DayInput
            source="cut_off"
            label="Cut-off"
            helperText={
              exact === undefined
                ? 'The last day of earnings to pay; all when empty. Refunds always count.'
                : `Until ${time(exact)}; the whole of another day, all when empty. Refunds always count.`
            }
          />
          <MoneyInput source="minimum" label="Minimum" />
        </Row>
        <GroupInput helperText="All affiliates when empty." />
        <TextInput
          source="exclude"
          label="Leave out"
          validate={numbersProblem}
          helperText="Affiliate numbers, separated by commas."
        />
      </FormSection>
      <FormSection title="How">
        <ChoiceInput
          source="method"
          label="Method"
          choices={methods}
          helperText={methods.find(({ id }) => id === method)?.hint ?? false}
        />
        {isBankOrder(method) && <BankOrder method={method} />}
        <TextInput source="note" label="Note" helperText="Payment reference that payees see." />
      </FormSection>
    </>
  )
}

/** What the file says to the bank, beside the payments. */
function BankOrder({ method }: Pick<Run, 'method'>) {
  const may = useCan()
  return (
    <>
      <Typography variant="body2" sx={{ color: 'text.secondary' }}>
        The file names you as the payer of the{' '}
        {may('settings.read') ? (
          <Link component={RouterLink} to="/settings">
            settings
          </Link>
        ) : (
          'settings (an administrator can complete it)'
        )}
        .
      </Typography>
      <DayInput
        source="execution_date"
        label="Execution date"
        helperText={
          method === 'nacha'
            ? 'When the bank is asked to pay; the weekday after the approval when empty or already past. Not on a Saturday or Sunday, but on the Monday.'
            : 'When the bank is asked to pay; the day of the approval when empty or already past.'
        }
      />
    </>
  )
}
