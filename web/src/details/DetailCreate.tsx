import { BooleanInput, required, TextInput } from 'react-admin'
import { useWatch } from 'react-hook-form'
import { useSearchParams } from 'react-router-dom'
import { AffiliateInput } from '../affiliates/AffiliateInput.tsx'
import { payeeOf } from '../affiliates/affiliate.tsx'
import { ChoiceInput, FormSection, Row } from '../ui/form.tsx'
import { RecordCreate } from '../ui/RecordForms.tsx'
import { type Detail, detailMethods } from './detail.ts'
import { paymentDetails } from './pages.ts'

type Values = Record<string, unknown>

const fieldsOf: Readonly<Record<string, readonly string[]>> = {
  paypal: ['paypal_email', 'holder'],
  sepa: ['iban', 'bic', 'holder'],
  nacha: ['routing_number', 'account_number', 'account_type', 'company', 'holder'],
} satisfies Record<Detail['method'], readonly string[]>

/** Only the fields of the chosen payment method are sent. */
function argumentsOf(values: Values): Values {
  const names = ['affiliate_id', 'method', ...(fieldsOf[String(values.method)] ?? [])]
  return Object.fromEntries(
    names.map(name => [name, values[name]]).filter(([, value]) => value !== undefined && value !== null),
  )
}

/** The query string may preset the affiliate and the method. */
export function DetailCreate() {
  const [parameters] = useSearchParams()
  const affiliate = Number(parameters.get('affiliate_id'))
  const { id: method } = detailMethods.find(({ id }) => id === parameters.get('method')) ?? detailMethods[0]!
  return (
    <RecordCreate
      of={paymentDetails}
      title="Enter payment details"
      defaults={{ method, account_type: 'checking', ...(affiliate && { affiliate_id: affiliate }) }}
      argumentsOf={argumentsOf}
    >
      <FormSection
        title="Payment details"
        hint="Payment details are encrypted when saved: nobody can read them again, they are only written to the files of payout runs. They replace earlier ones of the same method; a replacement is used after a waiting period."
      >
        <AffiliateInput nameOf={payeeOf} validate={required('Choose who is paid.')} helperText={false} />
        <ChoiceInput source="method" label="Method" choices={detailMethods} />
        <Fields />
      </FormSection>
    </RecordCreate>
  )
}

const plainly = { autoComplete: 'off', helperText: false } as const

function Fields() {
  const method: Detail['method'] = useWatch({ name: 'method' })
  return (
    <>
      {method === 'paypal' && (
        <TextInput
          source="paypal_email"
          label="E-mail address at PayPal"
          type="email"
          {...plainly}
          validate={required('Enter the PayPal address.')}
        />
      )}
      {method === 'sepa' && (
        <Row>
          <TextInput source="iban" label="IBAN" {...plainly} validate={required('Enter the IBAN.')} />
          <TextInput source="bic" label="BIC" autoComplete="off" helperText="May be left empty." />
        </Row>
      )}
      {method === 'nacha' && <AccountInUsd />}
      <TextInput
        source="holder"
        label="Holder"
        autoComplete="off"
        {...(method !== 'paypal' && { validate: required('Enter whom the account belongs to.') })}
        helperText={
          method === 'paypal'
            ? "Account holder, as the account's name is at PayPal."
            : 'Account holder, as the bank has the name.'
        }
      />
    </>
  )
}

function AccountInUsd() {
  return (
    <>
      <Row>
        <TextInput
          source="routing_number"
          label="Routing number"
          {...plainly}
          validate={required('Enter the number of the bank.')}
        />
        <TextInput
          source="account_number"
          label="Account number"
          {...plainly}
          validate={required('Enter the number of the account.')}
        />
      </Row>
      <Row>
        <ChoiceInput
          source="account_type"
          label="Type of account"
          choices={[
            { id: 'checking', name: 'Checking' },
            { id: 'savings', name: 'Savings' },
          ]}
        />
        <BooleanInput source="company" label="The account belongs to a company" />
      </Row>
    </>
  )
}
