/** Password reset: requests the e-mail, and handles the link in it. */
import { Alert, Button, Card, Link, Stack } from '@mui/material'
import { type FormEvent, type ReactNode, useEffect, useState } from 'react'
import type { HttpError } from 'react-admin'
import { Link as RouterLink, useLocation } from 'react-router-dom'
import { request } from './api.ts'
import { LoginField, LoginFrame, PasswordField, reasonOf } from './LoginPage.tsx'

export function ForgottenPassword() {
  const [login, setLogin] = useState('')
  const requestLink = async () => {
    if (!login.trim()) return 'Fill in your login name or your e-mail address.'
    await request('POST', 'forgotten-password', { body: { login: login.trim() }, anonymous: true })
    return undefined
  }
  return (
    <OneStep
      title="Forgotten password"
      action="Send a link"
      act={requestLink}
      done="If there is such an account, a link is on its way to its e-mail address. It works once, within an hour."
    >
      <LoginField value={login} onChange={event => setLogin(event.target.value)} autoFocus />
    </OneStep>
  )
}

export function NewPassword() {
  // The token is in the URL fragment, which is never sent to a server.
  const token = useLocation().hash.slice(1)
  const [password, setPassword] = useState('')
  const set = async () => {
    if (!password) return 'Type a new password.'
    await request('POST', 'new-password', { body: { token, new_password: password }, anonymous: true })
    return undefined
  }
  return (
    <OneStep
      title="New password"
      action="Set password"
      act={set}
      done="Your password is set, and your sessions have ended. Log in with the new one."
      beside={<PlainLink to="/forgotten-password">Ask for another link</PlainLink>}
    >
      <PasswordField
        label="New password"
        autoComplete="new-password"
        helperText="At least 8 characters"
        value={password}
        onChange={event => setPassword(event.target.value)}
        autoFocus
      />
    </OneStep>
  )
}

/**
 * @param act returns the validation error, if there is one
 * @param beside what else can be done, until it is done
 */
function OneStep({
  title,
  action,
  act,
  done,
  beside,
  children,
}: {
  title: string
  action: string
  act: () => Promise<string | undefined>
  done: string
  beside?: ReactNode
  children: ReactNode
}) {
  const [state, setState] = useState<'asking' | 'busy' | 'done'>('asking')
  const [problem, setProblem] = useState<string>()
  useEffect(() => {
    document.title = `${title} · affiliated`
  }, [title])
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setState('busy')
    const wrong = await act().catch((error: HttpError) => reasonOf(error))
    setProblem(wrong)
    setState(wrong === undefined ? 'done' : 'asking')
  }
  return (
    <LoginFrame title={title}>
      <Card component="form" onSubmit={submit} noValidate sx={{ p: { xs: 2.5, sm: 3.5 } }}>
        <Stack sx={{ gap: 2.5 }}>
          {problem && <Alert severity="error">{problem}</Alert>}
          {state === 'done' ? (
            <Alert severity="success" role="status">
              {done}
            </Alert>
          ) : (
            <>
              {children}
              <Button type="submit" variant="contained" size="large" loading={state === 'busy'}>
                {action}
              </Button>
              {beside}
            </>
          )}
          <PlainLink to="/login">Log in</PlainLink>
        </Stack>
      </Card>
    </LoginFrame>
  )
}

const PlainLink = ({ to, children }: { to: string; children: ReactNode }) => (
  <Link component={RouterLink} to={to} sx={{ textAlign: 'center' }}>
    {children}
  </Link>
)
