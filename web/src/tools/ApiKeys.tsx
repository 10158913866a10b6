import AddIcon from '@mui/icons-material/Add'
import KeyIcon from '@mui/icons-material/VpnKeyOutlined'
import { Box, Button, Link, Stack, Typography } from '@mui/material'
import { useState } from 'react'
import { ListBase, useListContext, useNotify } from 'react-admin'
import { Link as RouterLink } from 'react-router-dom'
import { request } from '../api.ts'
import { useSession } from '../session.tsx'
import { Confirm } from '../ui/Confirm.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import type { Column } from '../ui/column.ts'
import { day, time } from '../ui/format.ts'
import { Rows } from '../ui/ListFrame.tsx'
import { Empty } from '../ui/Page.tsx'
import { RecordTable } from '../ui/RecordTable.tsx'
import { StatusChip } from '../ui/StatusChip.tsx'
import { Breakable } from '../ui/table.tsx'
import { GenerateKey } from './GenerateKey.tsx'
import { type ApiKey, permissionsText } from './key.ts'

export function ApiKeys() {
  return (
    <ListBase
      resource="keys"
      perPage={25}
      sort={{ field: 'id', order: 'DESC' }}
      storeKey={false}
      disableAuthentication
    >
      <Keys />
    </ListBase>
  )
}

function Keys() {
  const { refetch } = useListContext()
  const [generating, setGenerating] = useState(false)
  const generate = (
    <Button variant="contained" startIcon={<AddIcon />} onClick={() => setGenerating(true)}>
      Generate API key
    </Button>
  )
  return (
    <>
      <Stack
        direction="row"
        sx={{ gap: 2, mb: 2, flexWrap: 'wrap', justifyContent: 'space-between', alignItems: 'center' }}
      >
        <Typography sx={{ color: 'text.secondary', maxWidth: 620 }}>
          A program that reads or changes records through the API sends a key with every request.
        </Typography>
        {generate}
      </Stack>
      <Rows
        empty={
          <Empty icon={<KeyIcon />} title="No API keys yet">
            Generate one for each program that is to use the API, with the permissions that it needs and no
            more.
          </Empty>
        }
        table={<KeyTable />}
        cards={<KeyCards />}
      />
      {generating && <GenerateKey onClose={() => setGenerating(false)} onGenerated={() => refetch()} />}
    </>
  )
}

function KeyTable() {
  return <RecordTable<ApiKey> label="API keys" columns={columnsOf(useSession().permissions)} />
}

const columnsOf = (allPermissions: string[]): Column<ApiKey>[] => [
  { label: 'Name', cell: key => <KeyName apiKey={key} />, minWidth: 180, maxWidth: 300 },
  { label: 'Owner', cell: key => <Owner apiKey={key} />, maxWidth: 160, wideOnly: true },
  {
    label: 'Permissions',
    cell: key => permissionsText(key.permissions, allPermissions),
    minWidth: 130,
    maxWidth: 240,
  },
  { label: 'Created', cell: key => <When text={key.date_created} />, wideOnly: true },
  { label: 'Last used', cell: key => <When text={key.last_used} none="Never" /> },
  { label: 'Expires', cell: key => <When text={key.expires} none="Never" />, wideOnly: true },
  { label: 'Status', cell: key => <KeyStatus apiKey={key} /> },
  { label: 'Action', cell: key => <Revoke apiKey={key} />, figures: true },
]

function KeyCards() {
  const { data } = useListContext<ApiKey>()
  const allPermissions = useSession().permissions
  return data?.map(key => (
    <Box key={key.id} sx={{ p: 2, borderBottom: 1, borderColor: 'divider' }}>
      <Stack direction="row" sx={{ justifyContent: 'space-between', gap: 1, alignItems: 'flex-start' }}>
        <KeyName apiKey={key} />
        <StatusChip status={key.status} />
      </Stack>
      <Typography variant="body2" component="div" sx={{ color: 'text.secondary', my: 1 }}>
        {permissionsText(key.permissions, allPermissions)} · <Owner apiKey={key} />
        <br />
        Created <When text={key.date_created} />, last used <When text={key.last_used} none="never" />,
        expires <When text={key.expires} none="never" />
      </Typography>
      <Revoke apiKey={key} />
    </Box>
  ))
}

function KeyName({ apiKey }: { apiKey: ApiKey }) {
  return (
    <Box sx={{ minWidth: 0 }}>
      <Typography component="div" variant="body2" sx={{ fontWeight: 580, overflowWrap: 'anywhere' }}>
        <bdi>{apiKey.name}</bdi>
      </Typography>
      <Typography
        component="code"
        variant="caption"
        sx={{ fontFamily: 'ui-monospace, monospace', color: 'text.secondary' }}
      >
        <Breakable text={apiKey.public_key} />
      </Typography>
      <CopyButton text={apiKey.public_key} name={`public key of ${apiKey.name}`} />
    </Box>
  )
}

/** Shows the expiry date as well where the column with it is hidden. */
function KeyStatus({ apiKey: { status, expires } }: { apiKey: ApiKey }) {
  return (
    <>
      <StatusChip status={status} />
      {expires && status === 'active' && (
        <Typography variant="caption" sx={{ display: { xs: 'block', lg: 'none' }, color: 'text.secondary' }}>
          until <When text={expires} />
        </Typography>
      )}
    </>
  )
}

function Owner({ apiKey: { owner } }: { apiKey: ApiKey }) {
  return (
    <Link component={RouterLink} to={`/users/${owner.id}`}>
      <bdi>{owner.login}</bdi>
    </Link>
  )
}

function When({ text, none = '–' }: { text: string | null; none?: string }) {
  if (!text) return <>{none}</>
  return (
    <Box component="span" title={time(text)} sx={{ whiteSpace: 'nowrap' }}>
      {day(text)}
    </Box>
  )
}

function Revoke({ apiKey }: { apiKey: ApiKey }) {
  const { refetch } = useListContext()
  const notify = useNotify()
  const [asking, setAsking] = useState(false)
  if (apiKey.status === 'revoked') return null
  const confirm = async () => {
    await request('DELETE', `keys/${apiKey.id}`)
    notify(`API key ${apiKey.name} revoked`, { type: 'success' })
    refetch()
  }
  return (
    <>
      <Button color="error" size="small" onClick={() => setAsking(true)} aria-label={`Revoke ${apiKey.name}`}>
        Revoke
      </Button>
      <Confirm
        open={asking}
        title={`Revoke the API key ${apiKey.name}?`}
        action="Revoke"
        onConfirm={confirm}
        onClose={() => setAsking(false)}
      >
        <Typography>Every request with this key will be refused. This cannot be undone.</Typography>
        <Typography>
          What stays: the key in this list, as revoked, and everything that was done with it.
        </Typography>
      </Confirm>
    </>
  )
}
