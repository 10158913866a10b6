import { Alert, Box } from '@mui/material'
import { PasswordInput, required, TextInput, useRecordContext } from 'react-admin'
import { useWatch } from 'react-hook-form'
import { History } from '../tools/AuditLog.tsx'
import { Allowed } from '../ui/Allowed.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { ChoiceInput, FormSection, Row } from '../ui/form.tsx'
import { DeleteRecord, RecordCreate, RecordEdit } from '../ui/RecordForms.tsx'
import { StatusChip } from '../ui/StatusChip.tsx'
import { namedChoices } from '../ui/words.ts'
import { sources } from './pages.ts'
import { nameOf, type Source, types } from './source.ts'
import { Trial } from './Trial.tsx'

type Values = Record<string, unknown>

/** The mapping is typed as JSON. Invalid JSON is sent as it is, so that the server names the problem. */
function argumentsOf({ mapping, secret, ...values }: Values): Values {
  return { ...values, ...(secret ? { secret } : {}), mapping: parsed(mapping) }
}

function parsed(mapping: unknown): unknown {
  if (typeof mapping !== 'string') return mapping ?? {}
  try {
    return JSON.parse(mapping)
  } catch {
    return mapping
  }
}

export function SourceCreate() {
  return (
    <RecordCreate
      of={sources}
      title="Set up source"
      defaults={{ type: 'stripe', status: 'active', mode: 'live', signature_header: 'X-Signature' }}
      argumentsOf={argumentsOf}
    >
      <Fields isNew />
    </RecordCreate>
  )
}

export function SourceEdit() {
  return (
    <RecordEdit<Source>
      of={sources}
      nameOf={nameOf}
      argumentsOf={argumentsOf}
      aside={({ status }) => <StatusChip status={status} />}
      actions={source => (
        <DeleteRecord of={sources} record={source} name={`source ${nameOf(source)}`}>
          Its deliveries will be refused. What it has reported stays.
        </DeleteRecord>
      )}
      below={({ id }) => <History record="source" id={id} />}
    >
      <Address />
      <Fields />
    </RecordEdit>
  )
}

/** The address that deliveries are sent to. */
function Address() {
  const source = useRecordContext<Source>()
  if (!source) return null
  const url = `${window.location.origin}/v1/sources/${source.id}/deliveries`
  return (
    <FormSection title="Deliveries" hint="Have them sent to this address, signed with the secret.">
      <Box sx={{ display: 'flex', alignItems: 'center', gap: 1, overflowWrap: 'anywhere' }}>
        <code>{url}</code>
        <CopyButton text={url} name="address" />
      </Box>
      {source.problem && <Alert severity="warning">The last one that was not taken: {source.problem}</Alert>}
      <Allowed to="sources.edit">
        <Trial id={source.id} />
      </Allowed>
    </FormSection>
  )
}

const choices = namedChoices(types)
const states = [
  { id: 'active', name: 'Active' },
  { id: 'inactive', name: 'Inactive' },
]
const modes = [
  { id: 'live', name: 'Live' },
  { id: 'test', name: 'Test mode and sandboxes' },
]
const asText = (mapping: unknown) =>
  typeof mapping === 'string' ? mapping : JSON.stringify(mapping ?? {}, null, 2)

function Fields({ isNew = false }: { isNew?: boolean }) {
  const type: Source['type'] | undefined = useWatch({ name: 'type' })
  return (
    <FormSection title="Source">
      <Row>
        <TextInput
          source="name"
          label="Name"
          validate={required('A source needs a name.')}
          helperText={false}
        />
        <ChoiceInput source="type" label="Type" choices={choices} disabled={!isNew} />
        <ChoiceInput source="status" label="Status" choices={states} />
      </Row>
      <Row>
        <TextInput
          source="context"
          label="Context"
          helperText="The shop whose sales it reports. Give each shop its own: numbers of orders and customers count within it."
        />
        <PasswordInput
          source="secret"
          label={isNew ? 'Secret' : 'New secret'}
          autoComplete="off"
          {...(isNew && { validate: required('The sender signs with a secret.') })}
          helperText="The sender signs with it. It is never shown again."
        />
      </Row>
      {type === 'stripe' && (
        <ChoiceInput
          source="mode"
          label="Events"
          choices={modes}
          helperText="Only these events are processed; others are acknowledged and ignored."
        />
      )}
      {type === 'generic' && <Reading />}
    </FormSection>
  )
}

/** Settings of a generic source: how its deliveries are read. */
function Reading() {
  return (
    <>
      <TextInput
        source="signature_header"
        label="Header of the signature"
        helperText="With the HMAC-SHA256 of the body, in hex or Base64."
      />
      <TextInput
        source="mapping"
        label="Mapping"
        multiline
        minRows={4}
        maxRows={20}
        format={asText}
        helperText='Where to find each argument of a conversion: {"kind": "sale", "reference": "/order/id", "amount": "/order/total"}'
      />
    </>
  )
}
