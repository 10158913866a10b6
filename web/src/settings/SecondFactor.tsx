/** The user's own second factor: authenticator app and recovery codes. */
import {
  Alert,
  Box,
  Button,
  Dialog,
  DialogActions,
  DialogContent,
  DialogTitle,
  Stack,
  TextField,
  Typography,
} from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { useNotify } from 'react-admin'
import type { FactorRecord } from '../../../src/accounts/second-factor/schema.ts'
import { envelopeOf, get, messageOf, request } from '../api.ts'
import { CopyButton } from '../ui/CopyButton.tsx'
import { FormSection } from '../ui/form.tsx'
import { plural, time } from '../ui/format.ts'
import { useShownOnce } from '../ui/leaving.ts'
import { Problem } from '../ui/Page.tsx'
import { QrCode } from '../ui/QrCode.tsx'

interface Setup {
  secret: string
  uri: string
}

type Step =
  | { name: 'setUp' | 'renew' | 'remove' }
  | { name: 'confirm'; begun: Setup }
  | { name: 'codes'; codes: string[] }

const path = 'second-factor'

async function post<T>(below: string, body: object): Promise<T> {
  return (await request<T>('POST', `${path}${below}`, { body })).body
}

export function SecondFactor() {
  const notify = useNotify()
  const [step, setStep] = useState<Step>()
  const { data, error, refetch } = useQuery({ queryKey: [path], queryFn: () => get<FactorRecord>(path) })
  const showCodes = async ({ recovery_codes: codes }: { recovery_codes: string[] }) => {
    setStep({ name: 'codes', codes })
    await refetch()
  }
  const begin = async (current_password: string) =>
    setStep({ name: 'confirm', begun: await post<Setup>('', { current_password }) })
  const renew = async (current_password: string) =>
    showCodes(await post('/recovery-codes', { current_password }))
  const remove = async (current_password: string) => {
    await post('/removal', { current_password })
    notify('From now on you log in with your password alone.', { type: 'success' })
    setStep(undefined)
    await refetch()
  }
  const cancel = () => setStep(undefined)
  return (
    <FormSection title="Second factor" hint="Logging in then also asks for a code from an app on your phone.">
      {error && <Problem error={error} retry={() => refetch()} />}
      {data && <State factor={data} />}
      {data && !step && <Choices factor={data} onChoose={name => setStep({ name })} />}
      {step?.name === 'setUp' && <PasswordStep action="Go on" act={begin} onCancel={cancel} />}
      {step?.name === 'renew' && <PasswordStep action="Get new codes" act={renew} onCancel={cancel} />}
      {step?.name === 'remove' && <PasswordStep action="Remove" act={remove} onCancel={cancel} />}
      {step?.name === 'confirm' && (
        <ConfirmStep
          begun={step.begun}
          act={async code => showCodes(await post('/confirmation', { code }))}
          onCancel={cancel}
        />
      )}
      {step?.name === 'codes' && <Codes codes={step.codes} onClose={cancel} />}
    </FormSection>
  )
}

function State({ factor: { active, since, recovery_codes } }: { factor: FactorRecord }) {
  if (!active || since === null) return <Typography variant="body2">Not set up.</Typography>
  return (
    <Typography variant="body2">
      Set up since {time(since)}; {plural(recovery_codes, 'recovery code')} left.
    </Typography>
  )
}

function Choices({
  factor,
  onChoose,
}: {
  factor: FactorRecord
  onChoose: (name: 'setUp' | 'renew' | 'remove') => void
}) {
  return (
    <Stack direction="row" sx={{ gap: 1, flexWrap: 'wrap' }}>
      {factor.active ? (
        <>
          <Button variant="outlined" onClick={() => onChoose('renew')}>
            New recovery codes
          </Button>
          <Button color="error" onClick={() => onChoose('remove')}>
            Remove second factor
          </Button>
        </>
      ) : (
        <Button variant="outlined" onClick={() => onChoose('setUp')}>
          Set up second factor
        </Button>
      )}
    </Stack>
  )
}

/** A form with one field and one button. @param name of the field in the API */
function StepForm({
  name,
  label,
  type,
  autoComplete,
  action,
  act,
  onCancel,
  children,
}: {
  name: 'code' | 'current_password'
  label: string
  type: 'password' | 'text'
  autoComplete: string
  action: string
  act: (typed: string) => Promise<void>
  onCancel: () => void
  children?: ReactNode
}) {
  const [typed, setTyped] = useState('')
  const [problem, setProblem] = useState<string>()
  const [busy, setBusy] = useState(false)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    try {
      await act(typed)
    } catch (failure) {
      const reason = envelopeOf(failure).errors?.[name]
      setProblem(typeof reason === 'string' ? reason : messageOf(failure))
    } finally {
      setBusy(false)
    }
  }
  return (
    <Stack component="form" onSubmit={submit} noValidate sx={{ gap: 2 }}>
      {children}
      <TextField
        label={label}
        type={type}
        value={typed}
        onChange={event => setTyped(event.target.value)}
        error={problem !== undefined}
        helperText={problem}
        autoFocus
        sx={{ maxWidth: 360 }}
        slotProps={{ htmlInput: { autoComplete, maxLength: 1000 } }}
      />
      <Stack direction="row" sx={{ gap: 1 }}>
        <Button type="submit" variant="contained" loading={busy} disabled={typed === ''}>
          {action}
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
      </Stack>
    </Stack>
  )
}

function PasswordStep(props: {
  action: string
  act: (password: string) => Promise<void>
  onCancel: () => void
}) {
  return (
    <StepForm
      name="current_password"
      label="Your password"
      type="password"
      autoComplete="current-password"
      {...props}
    />
  )
}

function ConfirmStep({
  begun: { secret, uri },
  act,
  onCancel,
}: {
  begun: Setup
  act: (code: string) => Promise<void>
  onCancel: () => void
}) {
  return (
    <StepForm
      name="code"
      label="Code that the app shows"
      type="text"
      autoComplete="one-time-code"
      action="Confirm"
      act={act}
      onCancel={onCancel}
    >
      <Typography variant="body2">Scan this with the app, or type the key into it.</Typography>
      <Stack direction={{ xs: 'column', sm: 'row' }} sx={{ gap: 2, alignItems: { sm: 'center' } }}>
        <QrCode text={uri} label="QR code for the app" />
        <Box sx={{ minWidth: 0 }}>
          <Typography variant="caption" component="div" sx={{ color: 'text.secondary' }}>
            Key
          </Typography>
          <Typography
            component="code"
            sx={{ fontFamily: 'ui-monospace, monospace', overflowWrap: 'anywhere' }}
          >
            {secret.match(/.{1,4}/g)?.join(' ')}
          </Typography>
          <CopyButton text={secret} name="key" />
        </Box>
      </Stack>
    </StepForm>
  )
}

/** Shows the codes, once: nothing but its button takes them away unasked. */
function Codes({ codes, onClose }: { codes: string[]; onClose: () => void }) {
  useShownOnce('The recovery codes are shown only now. Leave the page all the same?')
  return (
    <Dialog open aria-labelledby="codes-title" maxWidth="sm">
      <DialogTitle id="codes-title">Recovery codes</DialogTitle>
      <DialogContent>
        <Stack sx={{ gap: 2 }}>
          <Alert severity="warning">
            These codes are shown once. Print them or keep them where only you get at them: each logs you in
            once without the app.
          </Alert>
          <Box
            component="ul"
            aria-label="Recovery codes"
            sx={{
              m: 0,
              p: 0,
              listStyle: 'none',
              display: 'grid',
              gap: 1,
              gridTemplateColumns: { xs: '1fr', sm: '1fr 1fr' },
              fontFamily: 'ui-monospace, monospace',
            }}
          >
            {codes.map(code => (
              <li key={code}>{code}</li>
            ))}
          </Box>
        </Stack>
      </DialogContent>
      <DialogActions>
        <CopyButton text={codes.join('\n')} name="recovery codes" />
        <Button variant="contained" onClick={onClose}>
          I have them
        </Button>
      </DialogActions>
    </Dialog>
  )
}
