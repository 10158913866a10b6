import { Button, Link, Stack, Typography } from '@mui/material'
import { useState } from 'react'
import {
  CreateBase,
  PasswordInput,
  required,
  SelectInput,
  TextInput,
  useEditContext,
  useNotify,
  useRecordContext,
} from 'react-admin'
import { Link as RouterLink } from 'react-router-dom'
import { request } from '../api.ts'
import { OwedBeforeErasure } from '../ledger/OwedBeforeErasure.tsx'
import { useSession } from '../session.tsx'
import { Confirm } from '../ui/Confirm.tsx'
import { Erase } from '../ui/Erase.tsx'
import { CarefulForm, FormButtons, FormSection, Row } from '../ui/form.tsx'
import { time } from '../ui/format.ts'
import { Page } from '../ui/Page.tsx'
import { parentOf, RecordEdit, useSaving } from '../ui/RecordForms.tsx'
import { users } from './pages.ts'
import { roleChoices, type User, userName } from './user.ts'

type Values = Record<string, unknown>

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
      <Page title="Create account" parent={parentOf(users)} narrow>
        <CarefulForm defaultValues={{ role: '' }}>
          <Fields isNew passwordHelp="Only needed by those who log in here. At least 8 characters." />
          <FormButtons back="/users" />
        </CarefulForm>
      </Page>
    </CreateBase>
  )
}

export function UserEdit() {
  return (
    <RecordEdit<User>
      of={users}
      nameOf={userName}
      argumentsOf={argumentsOf}
      said={({ login }) => `Account ${login} saved`}
      above={user => <Registered user={user} />}
      below={user => <FurtherActions user={user} />}
    >
      <Fields passwordHelp="Leave empty to keep the password. A new one ends the account's sessions." />
    </RecordEdit>
  )
}

function Registered({ user: { id, date_registered, affiliate_id } }: { user: User }) {
  return (
    <Typography sx={{ mb: 2, color: 'text.secondary' }}>
      Account {id}, registered {time(date_registered)}.{' '}
      {affiliate_id ? (
        <Link component={RouterLink} to={`/affiliates/${affiliate_id}/show`}>
          Affiliate #{affiliate_id}
        </Link>
      ) : (
        'Not an affiliate.'
      )}
    </Typography>
  )
}

/** Whether an account is the user's own. */
const useIsOwn = (account?: Pick<User, 'id'>) => useSession().user.id === account?.id

function FurtherActions({ user }: { user: User }) {
  const { refetch } = useEditContext()
  if (useIsOwn(user)) return null
  return (
    <Stack direction="row" sx={{ gap: 1, flexWrap: 'wrap', mt: 3 }}>
      {user.second_factor && <ResetSecondFactor user={user} onReset={() => refetch()} />}
      <Erase of={users} record={user} name={`account ${userName(user)}`} needs="users.delete">
        Login, names, addresses and notes of the account, and of the affiliate and customer that belong to it,
        are erased here and in the audit log. Its sessions end, its API keys are revoked. Affiliate, referrals
        and payouts stay with their amounts.
        {user.affiliate_id !== null && user.affiliate_id > 0 && (
          <OwedBeforeErasure affiliateId={user.affiliate_id} />
        )}
      </Erase>
    </Stack>
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

function Fields({ isNew = false, passwordHelp }: { isNew?: boolean; passwordHelp: string }) {
  return (
    <>
      <Identity isNew={isNew} />
      <Access passwordHelp={passwordHelp} />
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

function Access({ passwordHelp }: { passwordHelp: string }) {
  const isOwn = useIsOwn(useRecordContext<User>())
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
          readOnly={isOwn}
          helperText={isOwn && 'Only another administrator can remove your role.'}
        />
        {isOwn ? (
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
