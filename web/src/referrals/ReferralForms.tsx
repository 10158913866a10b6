import { useEffect } from 'react'
import { RadioButtonGroupInput, required, TextInput, useRecordContext } from 'react-admin'
import { useFormContext, useWatch } from 'react-hook-form'
import { useSearchParams } from 'react-router-dom'
import { AffiliateInput } from '../affiliates/AffiliateInput.tsx'
import { payeeOf } from '../affiliates/affiliate.tsx'
import { ChoiceInput, FormSection, MoneyInput, Row } from '../ui/form.tsx'
import { RecordCreate, RecordEdit } from '../ui/RecordForms.tsx'
import { choicesOf } from '../ui/words.ts'
import { hasDirection, OwedAfterReferral } from './OwedAfterReferral.tsx'
import { referrals } from './pages.ts'
import { nameOf, type Referral, rejectionHint, settable, statuses, types } from './referral.ts'
import { useExplanation } from './Why.tsx'

type Values = Record<string, unknown>

const texts = ['description', 'reference', 'context', 'campaign'] as const

/** The form's values as API arguments. */
function argumentsOf({ amount, owed, ...values }: Values): Values {
  const emptied = texts.filter(name => values[name] === null).map(name => [name, ''])
  const isLess = owed === 'less' && hasDirection(values.type)
  return { ...values, ...Object.fromEntries(emptied), amount: isLess ? -Number(amount) : Number(amount) }
}

/** Only what is rejected has a reason for it. */
function argumentsOfEdit({ rejection_reason, ...values }: Values): Values {
  const isSaid = values.status === 'rejected' && rejection_reason !== undefined
  return { ...argumentsOf(values), ...(isSaid && { rejection_reason: rejection_reason ?? '' }) }
}

/** The query string may preset the affiliate and the type (a write-off, from the affiliate's page). */
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
        owed: 'less',
        ...(affiliate && { affiliate_id: affiliate }),
      }}
      argumentsOf={argumentsOf}
    >
      {isWriteOff ? <WriteOff /> : <Fields isNew />}
    </RecordCreate>
  )
}

export function ReferralEdit() {
  return (
    <RecordEdit<Referral> of={referrals} nameOf={nameOf} argumentsOf={argumentsOfEdit}>
      <Fields />
    </RecordEdit>
  )
}

const hints: Partial<Record<Referral['type'], string>> = {
  refund: 'Takes back earnings of an earlier referral, which lowers the next payout.',
  write_off: 'Lowers or raises what the affiliate is owed, without a sale.',
}

const directions = [
  { id: 'less', name: 'less' },
  { id: 'more', name: 'more' },
]

function Fields({ isNew = false }: { isNew?: boolean }) {
  const type: Referral['type'] | undefined = useWatch({ name: 'type' })
  const signed = hasDirection(type)
  const isDraft = useRecordContext<Referral>()?.status === 'draft'
  return (
    <>
      <FormSection title="Referral" hint={type && hints[type]}>
        <AffiliateInput
          nameOf={payeeOf}
          validate={required('Choose the affiliate who earned it.')}
          helperText="Search by name, e-mail address or number."
        />
        {signed && isNew && <Direction />}
        <Row>
          <MoneyInput source="amount" label="Amount" signed={signed && !isNew} />
          <ChoiceInput source="type" label="Type" choices={choicesOf(types)} />
          <ChoiceInput
            source="status"
            label="Status"
            choices={choicesOf(isDraft ? statuses : settable)}
            helperText="Unpaid referrals are owed."
          />
        </Row>
        <OwedAfterReferral />
        {!isNew && <RejectionReason />}
        <TextInput
          source="description"
          label="Description"
          multiline
          minRows={2}
          maxRows={8}
          {...(type === 'write_off' && { validate: required('Enter the reason, for later review.') })}
          helperText="What was bought, or why."
        />
      </FormSection>
      <Origin />
    </>
  )
}

/** It is no field of the record: the explanation has it. What was said of one affiliate is not of another. */
function RejectionReason() {
  const { id, affiliate_id } = useRecordContext<Referral>()!
  const [status, affiliate] = useWatch({ name: ['status', 'affiliate_id'] })
  const { getValues, setValue } = useFormContext()
  const { data } = useExplanation(id)
  const stored = data?.rejection_reason
  useEffect(() => {
    const isUntouched = getValues('rejection_reason') === stored
    if (affiliate !== affiliate_id && isUntouched) setValue('rejection_reason', '')
  }, [affiliate, affiliate_id, stored, getValues, setValue])
  if (status !== 'rejected' || !data) return null
  return (
    <TextInput
      source="rejection_reason"
      label="Reason of the rejection"
      defaultValue={data.rejection_reason}
      helperText={rejectionHint}
    />
  )
}

/** A write-off counts at once, and comes from no sale: only who, how much and why are asked for. */
function WriteOff() {
  return (
    <FormSection title="Write-off" hint={hints.write_off}>
      <AffiliateInput
        nameOf={payeeOf}
        validate={required('Choose whose balance is corrected.')}
        helperText="Search by name, e-mail address or number."
      />
      <Direction />
      <MoneyInput source="amount" label="Amount" />
      <OwedAfterReferral />
      <TextInput
        source="description"
        label="Reason"
        multiline
        minRows={2}
        maxRows={8}
        validate={required('Enter the reason, for later review.')}
        helperText="Stays with the write-off, for later review."
      />
    </FormSection>
  )
}

function Direction() {
  return (
    <RadioButtonGroupInput
      margin="none"
      source="owed"
      label="Afterwards the affiliate is owed"
      choices={directions}
      translateChoice={false}
      validate={required()}
      helperText={false}
    />
  )
}

function Origin() {
  return (
    <FormSection title="Where it comes from">
      <Row>
        <TextInput source="reference" label="Reference" helperText="Such as the number of the order." />
        <TextInput source="context" label="Context" helperText="Such as the shop." />
        <TextInput source="campaign" label="Campaign" helperText={false} />
      </Row>
    </FormSection>
  )
}
