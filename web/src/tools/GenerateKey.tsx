import CopyIcon from '@mui/icons-material/ContentCopyOutlined'
import {
  Alert,
  Autocomplete,
  Box,
  Button,
  Checkbox,
  Dialog,
  DialogActions,
  DialogContent,
  DialogTitle,
  FormHelperText,
  Stack,
  Table,
  TableBody,
  TableCell,
  TableContainer,
  TableHead,
  TableRow,
  TextField,
  Typography,
} from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useRef, useState } from 'react'
import type { HttpError } from 'react-admin'
import { get, messageOf, queryOf, request } from '../api.ts'
import { useSession } from '../session.tsx'
import { type User, userName } from '../users/user.ts'
import { type ApiKey, matrixOf, readOnly } from './key.ts'

interface Generated extends ApiKey {
  token: string
}

type Errors = Partial<Record<'name' | 'user_id' | 'permissions' | 'expires' | 'form', string>>

/** Asks for what a key is to be, and then shows its token, once. */
export function GenerateKey({ onClose, onGenerated }: { onClose: () => void; onGenerated: () => void }) {
  const [generated, setGenerated] = useState<Generated>()
  if (generated) return <Token generated={generated} onClose={onClose} />
  return (
    <Ask
      onClose={onClose}
      onGenerated={key => {
        setGenerated(key)
        onGenerated()
      }}
    />
  )
}

type Owner = Pick<User, 'id' | 'login' | 'display_name' | 'email'>

function Ask({ onClose, onGenerated }: { onClose: () => void; onGenerated: (key: Generated) => void }) {
  const session = useSession()
  const [name, setName] = useState('')
  const [owner, setOwner] = useState<Owner | null>(session.user)
  const [permissions, setPermissions] = useState<string[]>(readOnly(session.permissions))
  const [expires, setExpires] = useState('')
  const [errors, setErrors] = useState<Errors>({})
  const [busy, setBusy] = useState(false)

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const missing: Errors = {
      ...(name.trim() === '' && { name: 'Give the key a name that says what it is for.' }),
      ...(owner === null && { user_id: 'Choose the account that the key acts for.' }),
      ...(permissions.length === 0 && { permissions: 'Choose at least one permission.' }),
    }
    setErrors(missing)
    if (Object.keys(missing).length > 0) return
    setBusy(true)
    try {
      const body = { name: name.trim(), user_id: owner!.id, permissions, ...(expires && { expires }) }
      onGenerated((await request<Generated>('POST', 'keys', { body })).body)
    } catch (error) {
      const byField = (error as HttpError).body?.errors as Errors | undefined
      setErrors({ ...byField, form: messageOf(error) })
    } finally {
      setBusy(false)
    }
  }

  return (
    <Dialog open onClose={busy ? undefined : onClose} aria-labelledby="generate-title">
      <Box component="form" onSubmit={submit} noValidate sx={{ display: 'contents' }}>
        <DialogTitle id="generate-title">Generate API key</DialogTitle>
        <DialogContent>
          <Stack sx={{ gap: 2.5, pt: 1 }}>
            <TextField
              label="Name"
              value={name}
              onChange={event => setName(event.target.value)}
              error={Boolean(errors.name)}
              helperText={errors.name ?? 'What the key is for, such as the program that uses it.'}
              autoFocus
              slotProps={{ htmlInput: { maxLength: 100 } }}
            />
            <OwnerInput owner={owner} onChange={setOwner} problem={errors.user_id} />
            <Permissions chosen={permissions} onChange={setPermissions} problem={errors.permissions} />
            <TextField
              label="Expires"
              type="date"
              value={expires}
              onChange={event => setExpires(event.target.value)}
              error={Boolean(errors.expires)}
              helperText={
                errors.expires ?? 'The last day on which it works, in UTC. Empty: it does not expire.'
              }
              slotProps={{ inputLabel: { shrink: true } }}
              sx={{ maxWidth: 280 }}
            />
            {errors.form && <Alert severity="error">{errors.form}</Alert>}
          </Stack>
        </DialogContent>
        <DialogActions>
          <Button onClick={onClose} disabled={busy}>
            Cancel
          </Button>
          <Button type="submit" variant="contained" loading={busy}>
            Generate
          </Button>
        </DialogActions>
      </Box>
    </Dialog>
  )
}

function OwnerInput({
  owner,
  onChange,
  problem,
}: {
  owner: Owner | null
  onChange: (owner: Owner | null) => void
  problem?: string | undefined
}) {
  const [search, setSearch] = useState('')
  const query = queryOf({ number: 20, search, orderby: 'login' })
  const { data = [], isFetching } = useQuery({
    queryKey: ['users', 'owners', query],
    queryFn: ({ signal }) => get<Owner[]>(`users?${query}`, { signal }),
    placeholderData: before => before,
  })
  return (
    <Autocomplete
      options={data}
      value={owner}
      loading={isFetching}
      filterOptions={options => options}
      getOptionLabel={user => `${userName(user)} <${user.email}>`}
      getOptionKey={user => user.id}
      isOptionEqualToValue={(one, other) => one.id === other.id}
      onChange={(_, chosen) => onChange(chosen)}
      onInputChange={(_, typed, reason) => setSearch(reason === 'input' ? typed : '')}
      renderInput={parameters => (
        <TextField
          {...parameters}
          label="Owner"
          error={Boolean(problem)}
          helperText={problem ?? 'The account that the key acts for: payouts that it makes name this owner.'}
        />
      )}
    />
  )
}

function Permissions({
  chosen,
  onChange,
  problem,
}: {
  chosen: string[]
  onChange: (permissions: string[]) => void
  problem?: string | undefined
}) {
  const known = useSession().permissions
  const { resources, actions } = matrixOf(known)
  const toggle = (permission: string) =>
    onChange(chosen.includes(permission) ? chosen.filter(one => one !== permission) : [...chosen, permission])
  return (
    <Box role="group" aria-labelledby="permissions-label">
      <Stack
        direction="row"
        sx={{ justifyContent: 'space-between', alignItems: 'center', flexWrap: 'wrap', gap: 1, mb: 0.5 }}
      >
        <Typography id="permissions-label" variant="h3" component="h3">
          Permissions
        </Typography>
        <Stack direction="row" sx={{ gap: 0.5 }}>
          <Button size="small" onClick={() => onChange(known)}>
            Full access
          </Button>
          <Button size="small" onClick={() => onChange(readOnly(known))}>
            Read-only
          </Button>
        </Stack>
      </Stack>
      <TableContainer sx={{ border: 1, borderColor: problem ? 'error.main' : 'divider', borderRadius: 2 }}>
        <Table
          size="small"
          sx={{
            '& tbody tr:last-of-type > *': { borderBottom: 0 },
            '& th, & td': { px: { xs: 0.5, sm: 1.5 } },
            '& th:first-of-type': { pl: 1.5 },
          }}
        >
          <TableHead>
            <TableRow>
              <TableCell>Resource</TableCell>
              {actions.map(action => (
                <TableCell key={action} align="center">
                  {capital(action)}
                </TableCell>
              ))}
            </TableRow>
          </TableHead>
          <TableBody>
            {resources.map(resource => (
              <TableRow key={resource}>
                <TableCell component="th" scope="row" sx={{ color: 'text.primary' }}>
                  {capital(resource)}
                </TableCell>
                {actions.map(action => {
                  const permission = `${resource}.${action}`
                  return (
                    <TableCell key={action} align="center" sx={{ py: 0 }}>
                      {known.includes(permission) && (
                        <Checkbox
                          checked={chosen.includes(permission)}
                          onChange={() => toggle(permission)}
                          slotProps={{ input: { 'aria-label': `${capital(resource)}: ${action}` } }}
                        />
                      )}
                    </TableCell>
                  )
                })}
              </TableRow>
            ))}
          </TableBody>
        </Table>
      </TableContainer>
      {problem && <FormHelperText error>{problem}</FormHelperText>}
    </Box>
  )
}

function Token({ generated, onClose }: { generated: Generated; onClose: () => void }) {
  const tokenInput = useRef<HTMLInputElement>(null)
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    tokenInput.current?.select()
    try {
      await navigator.clipboard.writeText(generated.token)
    } catch {
      // Without TLS there is no clipboard to write to; the selection can be copied all the same.
      document.execCommand('copy')
    }
    setCopied(true)
  }
  return (
    <Dialog open aria-labelledby="token-title" maxWidth="sm">
      <DialogTitle id="token-title" sx={{ overflowWrap: 'anywhere' }}>
        API key <bdi>{generated.name}</bdi>
      </DialogTitle>
      <DialogContent>
        <Stack sx={{ gap: 2.5, pt: 1 }}>
          <Alert severity="warning">
            Copy the token now: it won't be shown again. Only a hash of it is kept.
          </Alert>
          <Stack direction="row" sx={{ gap: 1, alignItems: 'flex-start' }}>
            <TextField
              label="Token"
              value={generated.token}
              fullWidth
              inputRef={tokenInput}
              slotProps={{ htmlInput: monospace, input: { readOnly: true } }}
            />
            <Button variant="contained" startIcon={<CopyIcon />} onClick={copy} autoFocus sx={{ height: 38 }}>
              {copied ? 'Copied' : 'Copy'}
            </Button>
          </Stack>
          <TextField
            label="Public key"
            value={generated.public_key}
            fullWidth
            slotProps={{ htmlInput: monospace, input: { readOnly: true } }}
          />
          <Box>
            <Typography variant="body2" sx={{ color: 'text.secondary', mb: 0.5 }}>
              To try it:
            </Typography>
            <Box
              component="pre"
              tabIndex={0}
              sx={{
                m: 0,
                p: 1.5,
                borderRadius: 2,
                bgcolor: 'action.hover',
                overflowX: 'auto',
                fontSize: '0.8rem',
                fontFamily: 'ui-monospace, monospace',
              }}
            >
              {`curl -H 'Authorization: Bearer TOKEN' ${location.origin}/v1/affiliates`}
            </Box>
          </Box>
        </Stack>
      </DialogContent>
      <DialogActions>
        <Box role="status" sx={{ flex: 1, color: 'text.secondary', fontSize: '0.85rem' }}>
          {copied && 'The token is in the clipboard.'}
        </Box>
        <Button onClick={onClose}>Done</Button>
      </DialogActions>
    </Dialog>
  )
}

const monospace = { style: { fontFamily: 'ui-monospace, monospace', fontSize: '0.85rem' } }
const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)
