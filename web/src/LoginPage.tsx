import VisibilityOff from '@mui/icons-material/VisibilityOffOutlined'
import Visibility from '@mui/icons-material/VisibilityOutlined'
import {
  Alert,
  Box,
  Button,
  Card,
  IconButton,
  InputAdornment,
  Link,
  Stack,
  TextField,
  type TextFieldProps,
  Typography,
} from '@mui/material'
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { useLogin } from 'react-admin'
import { Link as RouterLink, useNavigate } from 'react-router-dom'
import { envelopeOf, messageOf } from './api.ts'
import { authProvider, type Credentials, greeting } from './session.tsx'
import { Mark } from './ui/Mark.tsx'

export function LoginPage() {
  const login = useLogin()
  const navigate = useNavigate()
  const [notice, setNotice] = useState(greeting.kind)
  useEffect(() => {
    document.title = 'Log in · affiliated'
    if (greeting.kind) return
    // Someone who opens the login page directly may already have a session: nothing has checked yet. Who has logged in
    // before the answer comes is led to where they wanted to go.
    let isHere = true
    authProvider.checkAuth({}).then(
      () => isHere && navigate('/'),
      () => setNotice(greeting.kind),
    )
    return () => {
      isHere = false
    }
  }, [navigate])
  return <LoginForm onSubmit={login} {...(notice && { notice })} />
}

type Submit = (credentials: Credentials) => Promise<unknown>
type NoticeKind = 'ended' | 'first_visit'

/** State and submission of the login form. */
function useLoginForm(onSubmit: Submit, fixedLogin = '') {
  const [login, setLogin] = useState(fixedLogin)
  const [password, setPassword] = useState('')
  /** Undefined until the server asks for a second factor. */
  const [code, setCode] = useState<string>()
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)
  const passwordInput = useRef<HTMLInputElement>(null)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const missing = missingOf(login, password, code)
    if (missing) return setProblem(missing)
    setBusy(true)
    try {
      await onSubmit({ login: login.trim(), password, ...(code && { code }) })
    } catch (error) {
      const asksForCode = isCode(error, 'rest_second_factor_required')
      if (asksForCode || isCode(error, 'rest_wrong_code')) setCode('')
      setProblem(asksForCode ? '' : reasonOf(error))
      passwordInput.current?.select()
    } finally {
      setBusy(false)
    }
  }
  const back = () => {
    setCode(undefined)
    setPassword('')
    setProblem('')
  }
  return { login, setLogin, password, setPassword, code, setCode, passwordInput, problem, busy, submit, back }
}

function missingOf(login: string, password: string, code: string | undefined): string | undefined {
  if (!login.trim() || !password) return 'Fill in your login name and your password.'
  return code === '' ? 'Type the code that your app shows, or a recovery code.' : undefined
}

/** @param onSubmit rejects with the server's error */
export function LoginForm({
  onSubmit,
  notice,
  fixedLogin,
}: {
  onSubmit: Submit
  notice?: NoticeKind
  fixedLogin?: string
}) {
  const form = useLoginForm(onSubmit, fixedLogin)
  return (
    <LoginFrame>
      <Card component="form" onSubmit={form.submit} noValidate sx={{ p: { xs: 2.5, sm: 3.5 } }}>
        <Stack sx={{ gap: 2.5 }}>
          {!form.problem && notice && <Notice kind={notice} />}
          {form.problem && <Alert severity="error">{form.problem}</Alert>}
          {form.code === undefined ? (
            <>
              <LoginField
                value={form.login}
                onChange={event => form.setLogin(event.target.value)}
                autoFocus={!fixedLogin}
              />
              <PasswordField
                value={form.password}
                onChange={event => form.setPassword(event.target.value)}
                autoFocus={Boolean(fixedLogin)}
                inputRef={form.passwordInput}
              />
            </>
          ) : (
            <CodeField value={form.code} onChange={event => form.setCode(event.target.value)} />
          )}
          <Button type="submit" variant="contained" size="large" loading={form.busy}>
            Log in
          </Button>
          {form.code !== undefined && <Button onClick={form.back}>Log in as somebody else</Button>}
        </Stack>
      </Card>
      {form.code === undefined ? <PasswordHelp /> : <LostApp />}
    </LoginFrame>
  )
}

function PasswordHelp() {
  return (
    <Hint>
      {greeting.recovers ? (
        <Link component={RouterLink} to="/forgotten-password">
          Forgotten your password?
        </Link>
      ) : (
        <>
          Forgotten it? Whoever runs the server sets a new one with{' '}
          <Code>affiliated users password LOGIN</Code>
        </>
      )}
    </Hint>
  )
}

const LostApp = () => (
  <Hint>
    Lost your app and your recovery codes? An administrator can let you in, or whoever runs the server with{' '}
    <Code>affiliated users reset-second-factor LOGIN</Code>
  </Hint>
)

const Hint = ({ children }: { children: ReactNode }) => (
  <Typography variant="body2" sx={{ textAlign: 'center', color: 'text.secondary' }}>
    {children}
  </Typography>
)

export function LoginField(props: TextFieldProps) {
  return (
    <TextField
      label="Login"
      helperText="Your login name or e-mail address"
      autoComplete="username"
      size="medium"
      slotProps={{ htmlInput: { autoCapitalize: 'none', spellCheck: false, maxLength: 254 } }}
      {...props}
    />
  )
}

function CodeField(props: TextFieldProps) {
  return (
    <TextField
      label="Code"
      helperText="Six digits that your app shows, or one of your recovery codes"
      autoComplete="one-time-code"
      autoFocus
      size="medium"
      slotProps={{ htmlInput: { autoCapitalize: 'none', spellCheck: false, maxLength: 40 } }}
      {...props}
    />
  )
}

export function PasswordField(props: TextFieldProps) {
  const [visible, setVisible] = useState(false)
  return (
    <TextField
      label="Password"
      type={visible ? 'text' : 'password'}
      autoComplete="current-password"
      size="medium"
      slotProps={{
        htmlInput: { maxLength: 1000 },
        input: {
          endAdornment: (
            <InputAdornment position="end">
              <IconButton
                aria-label={visible ? 'Hide password' : 'Show password'}
                onClick={() => setVisible(!visible)}
                edge="end"
              >
                {visible ? <Visibility /> : <VisibilityOff />}
              </IconButton>
            </InputAdornment>
          ),
        },
      }}
      {...props}
    />
  )
}

export function LoginFrame({
  title = 'Log in to affiliated',
  children,
}: {
  title?: string
  children: ReactNode
}) {
  return (
    <Box
      component="main"
      sx={{
        minHeight: '100dvh',
        display: 'grid',
        placeItems: 'center',
        p: 2,
        bgcolor: 'background.default',
        backgroundImage: theme =>
          `radial-gradient(60rem 32rem at 50% -8rem, ${theme.palette.primary.light}, transparent)`,
      }}
    >
      <Stack sx={{ width: '100%', maxWidth: 400, gap: 3 }}>
        <Stack sx={{ alignItems: 'center', gap: 1.5 }}>
          <Mark size={44} />
          <Typography variant="h1">{title}</Typography>
        </Stack>
        {children}
      </Stack>
    </Box>
  )
}

function Notice({ kind }: { kind: NoticeKind }) {
  if (kind === 'ended') {
    return (
      <Alert severity="info" role="status">
        Your session has ended. Log in to continue where you left off.
      </Alert>
    )
  }
  return (
    <Alert severity="info" role="status">
      Nobody has logged in here yet. The login is <Code>admin</Code>; its password was printed by{' '}
      <Code>affiliated serve</Code> when it first started on this database. To set a new one, run{' '}
      <Code>affiliated users password admin</Code>
    </Alert>
  )
}

function Code({ children }: { children: string }) {
  return (
    <Box component="code" sx={{ fontFamily: 'ui-monospace, monospace', fontSize: '0.92em', fontWeight: 600 }}>
      {children}
    </Box>
  )
}

const isCode = (error: unknown, code: string) => envelopeOf(error).code === code

export function reasonOf(error: unknown): string {
  const { status, retry_after: seconds } = envelopeOf(error).data ?? {}
  if (status !== 429 || seconds === undefined) return messageOf(error)
  const minutes = Math.ceil(seconds / 60)
  return `Too many tries. Try again in ${seconds < 60 ? `${seconds} seconds` : minutes === 1 ? 'one minute' : `${minutes} minutes`}.`
}
