import { Button, Link, Stack, Typography } from '@mui/material'
import { useState } from 'react'
import {
  CreateBase,
  EditBase,
  PasswordInput,
  required,
  SelectInput,
  TextInput,
  useEditContext,
  useNotify,
} from 'react-admin'
import { Link as RouterLink } from 'react-router-dom'
import { request } from '../api.ts'
import { OwedBeforeErasure } from '../ledger/OwedBeforeErasure.tsx'
import { useSession } from '../session.tsx'
import { Confirm } from '../ui/Confirm.tsx'
import { Erase } from '../ui/Erase.tsx'
import { CarefulForm, FormButtons, FormSection, Row } from '../ui/form.tsx'
import { time } from '../ui/format.ts'
import { isPassing, Page, RecordProblem, wholeRecord } from '../ui/Page.tsx'
import { parentOf, useSaving } from '../ui/RecordForms.tsx'
import { Waiting } from '../ui/Waiting.tsx'
import { users } from './pages.ts'
import { roleChoices, type User, userName } from './user.ts'

type Values = Record<string, unknown>

const parent = parentOf(users)
const texts = ['login', 'email', 'first_name', 'last_name', 'display_name', 'role']

/** An empty password is not sent, so that it stays unchanged. */
function argumentsOf({ password, ...data }: Values): Values {
  const cleared = texts.filter(name => data[name] === null).map(name => [name, ''])
  return { ...data, ...Object.fromEntries(cleared), ...(password ? { password } : {}) }
}

export function UserCreate() {
  const saving = useSaving<User>(users, ({ login }) => `Account ${login} created`)
  return (
    <CreateBase resource="users" transform={argumentsOf} redirect={false} mutationOptions={saving}>
      <Page title="Create account" parent={parent} narrow>
        <CarefulForm defaultValues={{ role: '' }}>
          <Fields isNew passwordHelp="Only needed by those who log in here. At least 8 characters." />
          <FormButtons back="/users" />
        </CarefulForm>
      </Page>
    </CreateBase>
  )
}

export function UserEdit() {
  const saving = useSaving<User>(users, ({ login }) => `Account ${login} saved`)
  return (
    <EditBase
      resource="users"
      mutationMode="pessimistic"
      queryOptions={wholeRecord}
      redirect={false}
      transform={argumentsOf}
      mutationOptions={saving}
    >
      <EditPage />
    </EditBase>
  )
}

function EditPage() {
  const { record, error, isPending, refetch } = useEditContext<User>()
  const { user } = useSession()
  if (error && !isPassing(error, record)) {
    return <RecordProblem kind="account" parent={parent} error={error} retry={() => refetch()} />
  }
  if (isPending || !record) return <Waiting />
  return (
    <Page title={userName(record)} heading={<bdi>{userName(record)}</bdi>} parent={parent} narrow>
      <Typography sx={{ mb: 2, color: 'text.secondary' }}>
        Account {record.id}, registered {time(record.date_registered)}.{' '}
        {record.affiliate_id ? (
          <Link component={RouterLink} to={`/affiliates/${record.affiliate_id}/show`}>
            Affiliate #{record.affiliate_id}
          </Link>
        ) : (
          'Not an affiliate.'
        )}
      </Typography>
      <CarefulForm needs="users.edit">
        <Fields
          own={record.id === user.id}
          passwordHelp="Leave empty to keep the password. A new one ends the account's sessions."
        />
        <FormButtons back="/users" />
      </CarefulForm>
      {record.id !== user.id && (
        <Stack direction="row" sx={{ gap: 1, flexWrap: 'wrap', mt: 3 }}>
          {record.second_factor && <ResetSecondFactor user={record} onReset={() => refetch()} />}
          <Erase of={users} record={record} name={`account ${userName(record)}`} needs="users.delete">
            Login, names, addresses and notes of the account, and of the affiliate and customer that belong to
            it, are erased here and in the audit log. Its sessions end, its API keys are revoked. Affiliate,
            referrals and payouts stay with their amounts.
            {record.affiliate_id !== null && record.affiliate_id > 0 && (
              <OwedBeforeErasure affiliateId={record.affiliate_id} />
            )}
          </Erase>
        </Stack>
      )}
    </Page>
  )
}

function ResetSecondFactor({ user, onReset }: { user: User; onReset: () => void }) {
  const notify = useNotify()
  const [asking, setAsking] = useState(false)
  const confirm = async () => {
    await request('DELETE', `users/${user.id}/second-factor`)
    notify(`${userName(user)} logs in by the password alone`, { type: 'success' })
    onReset()
  }
  return (
    <>
      <Button color="error" onClick={() => setAsking(true)}>
        Remove second factor
      </Button>
      <Confirm
        open={asking}
        title={`Remove the second factor of ${userName(user)}?`}
        action="Remove"
        onConfirm={confirm}
        onClose={() => setAsking(false)}
      >
        <Typography>
          The account then logs in with its password alone. Do this for someone who has lost the app and the
          recovery codes, and make sure that the request really comes from them.
        </Typography>
      </Confirm>
    </>
  )
}

interface FieldsProps {
  isNew?: boolean
  /** Whether it is the user's own account. */
  own?: boolean
  passwordHelp: string
}

function Fields({ isNew = false, own: isOwn = false, passwordHelp }: FieldsProps) {
  return (
    <>
      <Identity isNew={isNew} />
      <Access own={isOwn} passwordHelp={passwordHelp} />
    </>
  )
}

function Identity({ isNew }: { isNew: boolean }) {
  return (
    <FormSection title="Account">
      <Row>
        <TextInput
          source="login"
          label="Login name"
          validate={required('Enter a login name.')}
          readOnly={!isNew}
          helperText={isNew ? 'Letters, digits, space and _.-@' : 'It cannot change.'}
          slotProps={{ htmlInput: { maxLength: 60, autoCapitalize: 'none', spellCheck: false } }}
        />
        <TextInput
          source="email"
          label="E-mail"
          validate={required('Enter an e-mail address.')}
          helperText={false}
        />
      </Row>
      <Row>
        <TextInput source="first_name" label="First name" helperText={false} />
        <TextInput source="last_name" label="Last name" helperText={false} />
      </Row>
      <TextInput
        source="display_name"
        label="Display name"
        helperText="If empty, first and last name, or the login."
      />
    </FormSection>
  )
}

function Access({ own, passwordHelp }: { own: boolean; passwordHelp: string }) {
  return (
    <FormSection
      title="Access"
      hint="Accounts with a role and a password can log in here. The role also limits the account's API keys, and losing it revokes them."
    >
      <Row>
        <SelectInput
          margin="none"
          source="role"
          label="Role"
          choices={roleChoices}
          emptyText="None"
          emptyValue=""
          readOnly={own}
          helperText={own && 'Only another administrator can remove your role.'}
        />
        {own ? (
          <Typography variant="body2" sx={{ color: 'text.secondary', alignSelf: 'center' }}>
            Your own password needs the current one:{' '}
            <Link component={RouterLink} to="/account">
              change password
            </Link>
            .
          </Typography>
        ) : (
          <PasswordInput
            source="password"
            label="New password"
            helperText={passwordHelp}
            slotProps={{ htmlInput: { autoComplete: 'new-password', maxLength: 1000 } }}
          />
        )}
      </Row>
    </FormSection>
  )
}
