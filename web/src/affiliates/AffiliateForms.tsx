import { FormControlLabel, FormLabel, Radio, RadioGroup } from '@mui/material'
import { useState } from 'react'
import { type RaRecord, ReferenceInput, required, SelectInput, TextInput } from 'react-admin'
import { useWatch } from 'react-hook-form'
import { GroupInput } from '../groups/GroupInput.tsx'
import { useCan, useSession } from '../session.tsx'
import { ChoiceInput, FormSection, RateInput, Row, rateOf } from '../ui/form.tsx'
import { rateText, useMoney } from '../ui/format.ts'
import { RecordChoice } from '../ui/RecordChoice.tsx'
import { RecordCreate, RecordEdit } from '../ui/RecordForms.tsx'
import { choicesOf } from '../ui/words.ts'
import { type User, userName } from '../users/user.ts'
import { type Affiliate, nameOf, statuses } from './affiliate.tsx'
import { affiliates } from './pages.ts'
import { isBuiltIn } from './rate.ts'

type Values = Record<string, unknown>

export function AffiliateCreate() {
  const [account, setAccount] = useState<'new' | 'existing'>('new')
  const may = useCan()
  const argumentsOf = ({ user_id, username, payment_email, ...data }: Values) => ({
    ...Object.fromEntries(Object.entries(data).filter(([, value]) => value !== '' && value != null)),
    ...(data.rate ? { rate: rateOf(data.rate) } : {}),
    ...(payment_email ? { payment_email } : {}),
    ...(account === 'existing' ? { user_id } : { create_user: true, ...(username ? { username } : {}) }),
  })
  return (
    <RecordCreate
      of={affiliates}
      title="Create affiliate"
      defaults={{ status: 'pending' }}
      argumentsOf={argumentsOf}
    >
      <FormSection title="Account">
        <div hidden={!may('users.read')}>
          <FormLabel id="account-kind">Who becomes an affiliate?</FormLabel>
          <RadioGroup
            row
            aria-labelledby="account-kind"
            value={account}
            onChange={(_, kind) => setAccount(kind === 'existing' ? 'existing' : 'new')}
          >
            <FormControlLabel value="new" control={<Radio />} label="A new account" />
            <FormControlLabel value="existing" control={<Radio />} label="An existing account" />
          </RadioGroup>
        </div>
        {account === 'existing' ? <ExistingAccount /> : <NewAccount />}
      </FormSection>
      <Terms />
    </RecordCreate>
  )
}

function NewAccount() {
  return (
    <Row>
      <TextInput
        source="payment_email"
        label="Payment e-mail"
        validate={required('An e-mail address is needed for a new account.')}
        helperText="The e-mail address of the new account. It must not be in use."
      />
      <TextInput
        source="username"
        label="Login name"
        helperText="If empty, derived from the e-mail address."
        slotProps={{ htmlInput: { maxLength: 60, autoCapitalize: 'none', spellCheck: false } }}
      />
    </Row>
  )
}

function ExistingAccount() {
  return (
    <>
      <AccountInput />
      <TextInput
        source="payment_email"
        label="Payment e-mail"
        helperText="If empty, the account's own address."
      />
    </>
  )
}

/** Must keep its identity across renders: a new function makes the autocomplete reset the text that is being typed. */
const accountOf = (user?: User) => (user ? `${userName(user)} <${user.email}>` : '')

function AccountInput() {
  return (
    <ReferenceInput source="user_id" reference="users" sort={{ field: 'login', order: 'ASC' }}>
      <RecordChoice
        label="Account"
        optionText={accountOf}
        getOptionDisabled={(user: RaRecord) => Boolean(user?.affiliate_id)}
        validate={required('Choose the account that becomes an affiliate.')}
        helperText="Search by name, login name or e-mail address. Accounts that are already affiliates are not listed."
      />
    </ReferenceInput>
  )
}

/** Helper text for an affiliate without a rate whose type is not the default one. */
const ofOtherType = (type: string, applies: string) =>
  isBuiltIn(type)
    ? `If empty, the rules apply, then the default number with this type: ${applies} per sale.`
    : `If empty, the rate of the rule “${type}”.`

function Terms() {
  const { settings } = useSession()
  const money = useMoney()
  const { rate_types, default_rate, default_rate_type } = settings
  const type = String(useWatch({ name: 'rate_type' }) || default_rate_type)
  // The default's number applies with any built-in rate type.
  const applies = rateText({ rate: String(default_rate), rate_type: type }, money)
  const isOther = type !== default_rate_type
  return (
    <FormSection
      title="Terms"
      hint={`Without a rate of their own, affiliates earn by the commission rules, then by the default rate.`}
    >
      <Row>
        <RateInput
          source="rate"
          label="Rate"
          helperText={
            isOther
              ? ofOtherType(type, applies)
              : `If empty, the rules apply, then the default of ${applies}.`
          }
        />
        <SelectInput
          margin="none"
          source="rate_type"
          label="Rate type"
          choices={rate_types.map(name => ({ id: name, name }))}
          translateChoice={false}
          emptyText="Default"
          emptyValue=""
          helperText={false}
        />
        <ChoiceInput source="status" label="Status" choices={choicesOf(statuses)} />
      </Row>
      <GroupInput helperText="The group's commission rules apply to the affiliate." />
      <TextInput
        source="notes"
        label="Notes"
        multiline
        minRows={3}
        maxRows={14}
        helperText="Shown here only, not in the API."
      />
    </FormSection>
  )
}

/** Sends 0 (no group) only to clear a group: otherwise a group that someone else has set meanwhile would be lost. */
const argumentsOfEdit = (data: Values, { previousData }: { previousData?: Values } = {}) => ({
  ...data,
  rate: rateOf(data.rate),
  group_id: data.group_id || (previousData?.group_id ? 0 : null),
})

export function AffiliateEdit() {
  return (
    <RecordEdit<Affiliate>
      of={affiliates}
      nameOf={nameOf}
      argumentsOf={argumentsOfEdit}
      said={() => 'Affiliate saved'}
    >
      <FormSection title="Account">
        <Row>
          <TextInput
            source="account_email"
            label="Account e-mail"
            validate={required('Enter an e-mail address.')}
            helperText="Changes the address of the account itself."
          />
          <TextInput
            source="payment_email"
            label="Payment e-mail"
            parse={typed => typed}
            helperText="If empty, the account's own address."
          />
        </Row>
      </FormSection>
      <Terms />
    </RecordEdit>
  )
}
