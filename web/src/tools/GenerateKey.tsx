import {
  Alert,
  Autocomplete,
  Box,
  Button,
  Dialog,
  DialogActions,
  DialogContent,
  DialogTitle,
  Stack,
  TextField,
} from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { leftTo, type Role, roles } from '../../../src/accounts/users/roles.ts'
import { envelopeOf, get, messageOf, queryOf, request } from '../api.ts'
import { useSession } from '../session.tsx'
import { LATEST_DAY, useNotInPart } from '../ui/DayField.tsx'
import { exceptByBackdrop } from '../ui/dialog.ts'
import { type User, userName } from '../users/user.ts'
import { readOnly } from './key.ts'
import { PermissionsInput } from './PermissionsInput.tsx'
import { type Generated, TokenDialog } from './TokenDialog.tsx'

type Errors = Partial<Record<'name' | 'user_id' | 'permissions' | 'expires' | 'form', string>>

/** Creates an API key, then shows its token, once. */
export function GenerateKey({ onClose, onGenerated }: { onClose: () => void; onGenerated: () => void }) {
  const [generated, setGenerated] = useState<Generated>()
  if (generated) return <TokenDialog generated={generated} onClose={onClose} />
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

type Owner = Pick<User, 'id' | 'login' | 'display_name' | 'email'> & { role: string }

const roleOf = (owner: Owner | null): Role => roles.find(role => role === owner?.role) ?? ''

/** State and submission of the form for a new key. */
function useNewKey(onGenerated: (key: Generated) => void) {
  const session = useSession()
  const [name, setName] = useState('')
  const [owner, setOwner] = useState<Owner | null>(session.user)
  const [selectedPermissions, setPermissions] = useState<string[]>(readOnly(session.permissions))
  // A key cannot have more permissions than its owner's role.
  const availablePermissions = [...leftTo(roleOf(owner), session.permissions)]
  const permissions = selectedPermissions.filter(permission => availablePermissions.includes(permission))
  const [expires, setExpires] = useState('')
  const lastDay = useNotInPart()
  const [errors, setErrors] = useState<Errors>({})
  const [busy, setBusy] = useState(false)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const dayProblem = lastDay.problem()
    const problems: Errors = {
      ...(name.trim() === '' && { name: 'Give the key a name that says what it is for.' }),
      ...(owner === null && { user_id: 'Choose the account that the key acts for.' }),
      ...(permissions.length === 0 && { permissions: 'Choose at least one permission.' }),
      ...(dayProblem && { expires: dayProblem }),
    }
    setErrors(problems)
    if (Object.keys(problems).length > 0) return
    setBusy(true)
    try {
      const body = { name: name.trim(), user_id: owner!.id, permissions, ...(expires && { expires }) }
      onGenerated((await request<Generated>('POST', 'keys', { body })).body)
    } catch (error) {
      const { root, ...byField }: Errors & { root?: unknown } = envelopeOf(error).errors ?? {}
      setErrors(Object.keys(byField).length > 0 ? byField : { form: messageOf(error) })
    } finally {
      setBusy(false)
    }
  }
  const values = { name, owner, known: availablePermissions, permissions, expires }
  return { values, setName, setOwner, setPermissions, setExpires, lastDay, errors, busy, submit }
}

function Ask({ onClose, onGenerated }: { onClose: () => void; onGenerated: (key: Generated) => void }) {
  const form = useNewKey(onGenerated)
  const { values, errors, busy } = form
  return (
    <Dialog open onClose={busy ? undefined : exceptByBackdrop(onClose)} aria-labelledby="generate-title">
      <Box component="form" onSubmit={form.submit} noValidate sx={{ display: 'contents' }}>
        <DialogTitle id="generate-title">Generate API key</DialogTitle>
        <DialogContent>
          <Stack sx={{ gap: 2.5, pt: 1 }}>
            <TextField
              label="Name"
              value={values.name}
              onChange={event => form.setName(event.target.value)}
              error={Boolean(errors.name)}
              helperText={errors.name ?? 'What the key is for, such as the program that uses it.'}
              autoFocus
              slotProps={{ htmlInput: { maxLength: 100 } }}
            />
            <OwnerInput owner={values.owner} onChange={form.setOwner} problem={errors.user_id} />
            <PermissionsInput
              known={values.known}
              chosen={values.permissions}
              onChange={form.setPermissions}
              problem={errors.permissions}
            />
            <TextField
              label="Expires"
              type="date"
              value={values.expires}
              onChange={event => form.setExpires(event.target.value)}
              error={Boolean(errors.expires)}
              helperText={
                errors.expires ?? 'The last day on which the key works, in UTC. If empty, it does not expire.'
              }
              slotProps={{
                inputLabel: { shrink: true },
                htmlInput: { ref: form.lastDay.field, max: LATEST_DAY },
              }}
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
      isOptionEqualToValue={(option, other) => option.id === other.id}
      onChange={(_, user) => onChange(user)}
      onInputChange={(_, typed, reason) => setSearch(reason === 'input' ? typed : '')}
      onKeyDown={event => {
        // The form would have the owner who was chosen before.
        if (search !== '' && event.key === 'Enter') event.preventDefault()
      }}
      renderInput={parameters => (
        <TextField
          {...parameters}
          label="Owner"
          error={Boolean(problem)}
          helperText={
            problem ??
            'The account that the key acts for: it becomes the owner of payouts recorded with the key.'
          }
        />
      )}
    />
  )
}
