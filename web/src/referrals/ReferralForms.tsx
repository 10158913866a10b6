import { required, SelectInput, TextInput } from 'react-admin'
import { useWatch } from 'react-hook-form'
import { useSearchParams } from 'react-router-dom'
import { AffiliateInput } from '../affiliates/AffiliateInput.tsx'
import { payeeOf } from '../affiliates/affiliate.tsx'
import { capital } from '../names.ts'
import { FormSection, MoneyInput, Row } from '../ui/form.tsx'
import { RecordCreate, RecordEdit } from '../ui/RecordForms.tsx'
import { referrals } from './pages.ts'
import { nameOf, type Referral, settable, types } from './referral.ts'

const choicesOf = (names: readonly string[]) => names.map(id => ({ id, name: capital(id) }))

type Values = Record<string, unknown>

const texts = ['description', 'reference', 'context', 'campaign'] as const

/** The texts that were typed as the server takes them. */
function argumentsOf({ amount, ...values }: Values): Values {
  const emptied = texts.filter(name => values[name] === null).map(name => [name, ''])
  return { ...values, ...Object.fromEntries(emptied), amount: Number(amount) }
}

/** The address can say for whom, and of which type: a write-off, from the page of the affiliate. */
export function ReferralCreate() {
  const [parameters] = useSearchParams()
  const affiliate = Number(parameters.get('affiliate_id'))
  const type = types.find(name => name === parameters.get('type')) ?? 'sale'
  const isWriteOff = type === 'write_off'
  return (
    <RecordCreate
      of={referrals}
      title={isWriteOff ? 'Write off' : 'Record referral'}
      defaults={{
        type,
        status: isWriteOff ? 'unpaid' : 'pending',
        ...(affiliate && { affiliate_id: affiliate }),
      }}
      argumentsOf={argumentsOf}
    >
      <Fields />
    </RecordCreate>
  )
}

export function ReferralEdit() {
  return (
    <RecordEdit<Referral> of={referrals} nameOf={nameOf} argumentsOf={argumentsOf}>
      <Fields />
    </RecordEdit>
  )
}

const hints: Partial<Record<Referral['type'], string>> = {
  refund: 'Takes back what an earlier referral earned. Its amount is below 0, and lowers the next payout.',
  write_off:
    'Corrects what is owed without a sale. Below 0, the affiliate is owed less; above 0, more. Say why in the description.',
}

function Fields() {
  const type = useWatch({ name: 'type' }) as Referral['type'] | undefined
  const signed = type === 'refund' || type === 'write_off'
  return (
    <>
      <FormSection title="Referral" hint={type && hints[type]}>
        <AffiliateInput
          nameOf={payeeOf}
          validate={required('Choose the affiliate who earned it.')}
          helperText="Search by name, e-mail address or number."
        />
        <Row>
          <MoneyInput source="amount" label="Amount" signed={signed} />
          <SelectInput
            margin="none"
            source="type"
            label="Type"
            choices={choicesOf(types)}
            translateChoice={false}
            validate={required()}
            helperText={false}
          />
          <SelectInput
            margin="none"
            source="status"
            label="Status"
            choices={choicesOf(settable)}
            translateChoice={false}
            validate={required()}
            helperText="Unpaid ones are owed."
          />
        </Row>
        <TextInput
          source="description"
          label="Description"
          multiline
          minRows={2}
          maxRows={8}
          {...(type === 'write_off' && { validate: required('Say why, for those who look later.') })}
          helperText="What was bought, or why."
        />
      </FormSection>
      <FormSection title="Where it comes from">
        <Row>
          <TextInput source="reference" label="Reference" helperText="Such as the number of the order." />
          <TextInput source="context" label="Context" helperText="Such as the shop." />
          <TextInput source="campaign" label="Campaign" helperText={false} />
        </Row>
      </FormSection>
    </>
  )
}
