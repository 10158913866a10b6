import { Alert, Box } from '@mui/material'
import { required, SelectArrayInput, TextInput, useRecordContext } from 'react-admin'
import { useWatch } from 'react-hook-form'
import { kinds } from '../../../src/programme/commission/sale.ts'
import { AffiliateInput } from '../affiliates/AffiliateInput.tsx'
import { numberedName } from '../affiliates/affiliate.tsx'
import { GroupInput } from '../groups/GroupInput.tsx'
import { useSession } from '../session.tsx'
import { DayInput } from '../ui/DayField.tsx'
import { ChoiceInput, FormSection, RateInput, Row } from '../ui/form.tsx'
import { DeleteRecord, RecordCreate, RecordEdit } from '../ui/RecordForms.tsx'
import { StatusChip } from '../ui/StatusChip.tsx'
import { choicesOf, namedChoices } from '../ui/words.ts'
import { Conditions } from './Conditions.tsx'
import { Preview } from './Preview.tsx'
import { rules } from './pages.ts'
import { argumentsOf, bases, nameOf, type Rule, rateTypes } from './rule.ts'

const PERCENTAGE: Rule['rate_type'] = 'percentage'

export function RuleCreate() {
  return (
    <RecordCreate
      of={rules}
      title="Create rule"
      defaults={{ rate_type: PERCENTAGE, base: 'net', priority: 100, condition_rows: [] }}
      argumentsOf={argumentsOf}
      wide
    >
      <FieldsWithPreview />
    </RecordCreate>
  )
}

export function RuleEdit() {
  return (
    <RecordEdit<Rule>
      of={rules}
      nameOf={nameOf}
      argumentsOf={argumentsOf}
      wide
      aside={({ status }) => <StatusChip status={status} />}
      actions={rule =>
        rule.status === 'current' && (
          <DeleteRecord of={rules} record={{ ...rule, id: rule.rule_id }} name={`rule ${rule.name}`}>
            The rule ends: it no longer applies to new sales. Past earnings stay, and its versions can be
            read.
          </DeleteRecord>
        )
      }
    >
      <FieldsWithPreview />
    </RecordEdit>
  )
}

/** The rule's fields, with the preview next to them. */
function FieldsWithPreview() {
  return (
    <Box
      sx={{
        display: 'grid',
        gap: { xs: 0, lg: 3 },
        gridTemplateColumns: { xs: 'minmax(0, 1fr)', lg: 'minmax(0, 1fr) minmax(320px, 420px)' },
      }}
    >
      <Box>
        <NotCurrent />
        <Fields />
      </Box>
      <Box sx={{ position: { lg: 'sticky' }, top: { lg: 16 }, alignSelf: 'start' }}>
        <Preview />
      </Box>
    </Box>
  )
}

function NotCurrent() {
  const rule = useRecordContext<Rule>()
  if (!rule || rule.status === 'current') return null
  return (
    <Alert severity="info" sx={{ mb: 2 }}>
      {rule.status === 'replaced'
        ? 'A later version has replaced this one; it is read-only.'
        : 'The rule has ended; it is read-only.'}
    </Alert>
  )
}

function Fields() {
  return (
    <>
      <Terms />
      <ForWhom />
      <When />
      <FormSection title="For how long">
        <Row>
          <Limit
            source="max_months"
            label="Maximum months"
            hint="After the customer's first order; later orders earn nothing."
          />
          <Limit
            source="max_payments"
            label="Maximum orders"
            hint="Of the same customer; later orders earn nothing."
          />
          <Limit
            source="hold_days"
            label="Holding period"
            hint="Days for which referrals are pending. Empty or 0: unpaid at once."
          />
        </Row>
      </FormSection>
    </>
  )
}

function Terms() {
  const isNew = useRecordContext() === undefined
  const isPercentage = useWatch({ name: 'rate_type' }) === PERCENTAGE
  const { currency } = useSession().settings
  return (
    <FormSection
      title="Rule"
      {...(!isNew && {
        hint: 'Saving creates a new version. Existing referrals keep the version they were calculated by.',
      })}
    >
      <TextInput
        source="name"
        label="Name"
        validate={required('A rule needs a name.')}
        helperText="Affiliates whose rate type has this name earn by this rule. A rule for everybody applies to all others as well."
      />
      <Row>
        <ChoiceInput source="rate_type" label="Pays" choices={namedChoices(rateTypes)} />
        <RateInput
          source="rate"
          label="Rate"
          helperText={isPercentage ? 'Percent.' : `In ${currency}.`}
          missing="Enter what the rule pays. It may be 0."
        />
      </Row>
      {isPercentage && <Base />}
    </FormSection>
  )
}

function Base() {
  return (
    <ChoiceInput
      source="base"
      label="Of"
      choices={namedChoices(bases)}
      helperText="The amount that the percentage is taken of."
    />
  )
}

function ForWhom() {
  return (
    <FormSection title="For whom" hint="Applies to everybody, unless you choose an affiliate or a group.">
      <AffiliateInput nameOf={numberedName} helperText="Search by name, e-mail address or number." />
      <GroupInput helperText="Only without an affiliate." />
      <TextInput
        source="priority"
        label="Priority"
        parse={typed => typed}
        helperText="Among rules for the same affiliate, the same group, or everybody, the lowest number is tried first."
        slotProps={{ htmlInput: { inputMode: 'numeric' } }}
      />
    </FormSection>
  )
}

function When() {
  return (
    <FormSection title="When" hint="The rule applies when all conditions are met.">
      <SelectArrayInput
        source="kinds"
        label="Kinds of sale"
        choices={choicesOf(kinds)}
        translateChoice={false}
        helperText="All, when none is chosen."
      />
      <Row>
        <DayInput source="from" label="From" parse={typed => typed} helperText={false} />
        <DayInput source="until" label="Until" parse={typed => typed} helperText={false} />
      </Row>
      <Conditions />
    </FormSection>
  )
}

function Limit({ source, label, hint }: { source: string; label: string; hint: string }) {
  return (
    <TextInput
      source={source}
      label={label}
      format={value => (value === undefined || value === null ? '' : String(value))}
      parse={typed => typed}
      validate={typed =>
        /^\d*$/.test(String(typed ?? '')) ? undefined : 'Enter a whole number, or leave it empty.'
      }
      helperText={hint}
      slotProps={{ htmlInput: { inputMode: 'numeric', autoComplete: 'off' } }}
    />
  )
}
