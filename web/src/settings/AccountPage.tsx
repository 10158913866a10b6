import { Box } from '@mui/material'
import { useState } from 'react'
import { PasswordInput, required, SaveContextProvider, useNotify } from 'react-admin'
import { request } from '../api.ts'
import { useSession } from '../session.tsx'
import { CarefulForm, FormButtons, FormSection } from '../ui/form.tsx'
import { Page } from '../ui/Page.tsx'
import { useSubmit } from '../ui/submit.ts'
import { SecondFactor } from './SecondFactor.tsx'
import { Sessions } from './Sessions.tsx'

/** The user's own password, second factor and sessions. */
export function AccountPage() {
  return (
    <Page title="Your account" narrow>
      <OwnPassword />
      <SecondFactor />
      <Sessions />
    </Page>
  )
}

function OwnPassword() {
  const { user } = useSession()
  const notify = useNotify()
  const [changes, setChanges] = useState(0)
  const submit = useSubmit(async ({ current_password, new_password }) => {
    await request('POST', 'password', { body: { current_password, new_password } })
    notify('Password changed. Your other sessions have ended.', { type: 'success' })
    setChanges(changes + 1)
  })
  return (
    <Box sx={{ mb: 4 }}>
      <SaveContextProvider value={submit}>
        <CarefulForm key={changes} resource="account">
          <FormSection
            title={`Password of ${user.login}`}
            hint="At least 8 characters. Changing it ends your other sessions."
          >
            <PasswordInput
              source="current_password"
              label="Current password"
              validate={required('Enter your current password.')}
              helperText={false}
              slotProps={{ htmlInput: { autoComplete: 'current-password' } }}
            />
            <PasswordInput
              source="new_password"
              label="New password"
              validate={required('Type a new password.')}
              helperText={false}
              slotProps={{ htmlInput: { autoComplete: 'new-password', maxLength: 1000 } }}
            />
            <PasswordInput
              source="repeated"
              label="Repeat new password"
              validate={(value, values) =>
                value === values.new_password ? undefined : 'The two passwords differ.'
              }
              helperText={false}
              slotProps={{ htmlInput: { autoComplete: 'new-password', maxLength: 1000 } }}
            />
          </FormSection>
          <FormButtons label="Change password" />
        </CarefulForm>
      </SaveContextProvider>
    </Box>
  )
}
