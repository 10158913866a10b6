/** The audit log: who did what, when, to which record. A record's page shows its own part as history. */
import HistoryIcon from '@mui/icons-material/History'
import { Box, Card, Stack, Typography } from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ListBase, ReferenceInput, SelectInput, TextInput, useListContext } from 'react-admin'
import type { EntryRecord } from '../../../src/operations/audit/schema.ts'
import { choicesOf, describe, get } from '../api.ts'
import { nameOfAction, nameOfKind } from '../names.ts'
import { pagesOf } from '../pages.ts'
import { Allowed } from '../ui/Allowed.tsx'
import type { Column } from '../ui/column.ts'
import { DateFilter } from '../ui/filters.tsx'
import { time } from '../ui/format.ts'
import { Filters, Rows } from '../ui/ListFrame.tsx'
import { Empty, Problem } from '../ui/Page.tsx'
import { RecordChoice } from '../ui/RecordChoice.tsx'
import { RecordTable } from '../ui/RecordTable.tsx'
import { namedChoices } from '../ui/words.ts'
import { AccountLink } from '../users/AccountLink.tsx'
import { type User, userName } from '../users/user.ts'
import { useLoggedText } from './logged.ts'
import { labelOf, Named } from './Named.tsx'
import { RecordNumber } from './RecordNumber.tsx'

type Entry = EntryRecord

const actors: Record<Entry['actor'], string> = {
  key: 'API key',
  session: 'Administration area',
  visitor: 'Nobody known',
  'command line': 'Command line',
  service: 'The service itself',
}

/** The kinds and actions that the log can contain, from the server. */
function useVocabulary(enabled = true): { kinds: string[]; actions: string[] } {
  const { data } = useQuery({ queryKey: ['audit', 'vocabulary'], queryFn: () => describe('audit'), enabled })
  return { kinds: choicesOf(data?.record), actions: choicesOf(data?.action) }
}

export function AuditLog() {
  return (
    <ListBase
      resource="audit"
      perPage={25}
      sort={{ field: 'id', order: 'DESC' }}
      storeKey={false}
      disableAuthentication
    >
      <Filters>
        <AuditFilters />
      </Filters>
      <Rows
        empty={
          <Empty icon={<HistoryIcon />} title="No entries yet">
            Every change and every log-in is recorded here and cannot be altered or removed.
          </Empty>
        }
        table={<EntryTable />}
        cards={<EntryCards />}
      />
    </ListBase>
  )
}

const width = (pixels: number) => ({ width: { sm: pixels } })
const text = (typed: string) => typed

/** Must keep their identity across renders: new functions make the autocomplete reset the text that is being typed. */
const accountOf = (user?: User) => (user ? userName(user) : '')
function AuditFilters() {
  const { kinds, actions } = useVocabulary()
  return (
    <>
      <SelectInput
        source="actor"
        label="Who"
        choices={namedChoices(actors)}
        emptyText="Anybody"
        helperText={false}
        margin="none"
        sx={width(190)}
      />
      <Allowed to="users.read">
        <ReferenceInput source="user_id" reference="users" sort={{ field: 'login', order: 'ASC' }}>
          <RecordChoice label="Account" optionText={accountOf} helperText={false} sx={width(200)} />
        </ReferenceInput>
      </Allowed>
      <SelectInput
        source="action"
        label="What"
        choices={actions.map(id => ({ id, name: nameOfAction(id) }))}
        emptyText="Anything"
        helperText={false}
        margin="none"
        sx={width(200)}
      />
      <SelectInput
        source="record"
        label="Record"
        choices={kinds.map(id => ({ id, name: nameOfKind(id) }))}
        emptyText="Any"
        helperText={false}
        margin="none"
        sx={width(130)}
      />
      <TextInput source="record_id" label="Record number" parse={text} helperText={false} sx={width(140)} />
      <DateFilter />
    </>
  )
}

const columns: Column<Entry>[] = [
  { label: 'When', cell: entry => <When entry={entry} />, minWidth: 110 },
  { label: 'Who', cell: entry => <Who entry={entry} />, minWidth: 120 },
  { label: 'What', cell: entry => <What entry={entry} />, minWidth: 110 },
  { label: 'Before and after', cell: entry => <Changes entry={entry} />, maxWidth: 420 },
]

const EntryTable = () => <RecordTable<Entry> label="Audit log" columns={columns} />

function EntryCards() {
  const { data } = useListContext<Entry>()
  return data?.map(entry => <EntryCard key={entry.id} entry={entry} />)
}

function EntryCard({ entry }: { entry: Entry }) {
  return (
    <Box sx={{ p: 2, borderBottom: 1, borderColor: 'divider' }}>
      <Stack direction="row" sx={{ justifyContent: 'space-between', gap: 1, flexWrap: 'wrap', mb: 0.5 }}>
        <What entry={entry} />
        <Typography variant="body2" sx={{ color: 'text.secondary' }}>
          <When entry={entry} />
        </Typography>
      </Stack>
      <Typography variant="body2" component="div" sx={{ color: 'text.secondary', mb: 0.5 }}>
        <Who entry={entry} />
      </Typography>
      <Changes entry={entry} />
    </Box>
  )
}

const NO_ENTRIES = 'The audit log has no entries of this record: it was imported, or is older than the log.'

/** History of one record, newest first. */
export function History({ record, id }: { record: string; id: number }) {
  const { data, error } = useHistory(record, id)
  return (
    <Card component="section" aria-label="History" sx={{ mt: 2 }}>
      <Typography variant="h2" sx={{ p: 2, pb: 1 }}>
        History
      </Typography>
      {error && <Problem error={error} />}
      {data?.length === 0 && (
        <Typography variant="body2" sx={{ px: 2, pb: 2, color: 'text.secondary' }}>
          {pagesOf(record)?.unlogged ?? NO_ENTRIES}
        </Typography>
      )}
      {data?.map(entry => (
        <EntryCard key={entry.id} entry={entry} />
      ))}
    </Card>
  )
}

function useHistory(record: string, id: number) {
  const steps = (pagesOf(record)?.steps ?? []).map(step => `${record}.${step}`)
  const hasSteps = steps.length > 0
  const { actions } = useVocabulary(hasSteps)
  const others = actions.filter(action => action.startsWith(`${record}.`) && !steps.includes(action))
  const path = `audit?record=${record}&record_id=${id}&order=desc&number=50`
  return useQuery({
    queryKey: ['audit', record, id],
    enabled: !hasSteps || others.length > 0,
    queryFn: async () => {
      if (!hasSteps) return get<Entry[]>(path)
      // The steps of a large run are more than what else there is to say of it.
      const lists = await Promise.all(
        [others, steps].map(actions => get<Entry[]>(`${path}&action=${actions.join()}`)),
      )
      return folded(
        lists.flat().sort((one, other) => other.id - one.id),
        steps,
      )
    },
  })
}

/** Steps of one action that follow each other become one entry, from what was before the first to what is after the last. */
function folded(entries: readonly Entry[], steps: readonly string[]): Entry[] {
  const all: Entry[] = []
  for (const earlier of entries) {
    const later = all.at(-1)
    if (later?.action !== earlier.action || !steps.includes(earlier.action)) all.push(earlier)
    else {
      all[all.length - 1] = {
        ...earlier,
        date: later.date,
        before: merged(later.before, earlier.before),
        after: merged(earlier.after, later.after),
      }
    }
  }
  return all
}

const merged = (one: Entry['before'], other: Entry['before']) => (one || other ? { ...one, ...other } : null)

const When = ({ entry }: { entry: Entry }) => (
  <span title={`${entry.date} UTC`}>{time(entry.date.slice(0, 19))}</span>
)

function Who({ entry: { actor, actor_name, user_id, login, address } }: { entry: Entry }) {
  const kind = actors[actor]
  return (
    <Box sx={{ overflowWrap: 'anywhere' }}>
      {user_id === null ? kind : <AccountLink id={user_id}>{login ?? `account ${user_id}`}</AccountLink>}
      <Typography variant="caption" component="div" sx={{ color: 'text.secondary' }}>
        {actor_name || (user_id === null ? '' : kind)}
        {address !== actor && ` from ${address}`}
      </Typography>
    </Box>
  )
}

function What({ entry: { action, record, record_id } }: { entry: Entry }) {
  return (
    <Box component="span">
      {nameOfAction(action)} {record_id !== null && <RecordNumber kind={record} id={record_id} />}
    </Box>
  )
}

/** Length of the JSON, in characters, above which the changes get a scroll bar. */
const LONG = 800

function Changes({ entry: { record, before, after, erased } }: { entry: Entry }) {
  const textOf = useLoggedText(record)
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].filter(name =>
    [before, after].some(values => values && textOf(name, values) !== ''),
  )
  const long = JSON.stringify([before, after]).length > LONG
  return (
    <Box
      sx={{
        fontSize: '0.8125rem',
        overflowWrap: 'anywhere',
        ...(long && { maxHeight: 240, overflowY: 'auto' }),
      }}
      {...(long && { tabIndex: 0 })}
    >
      {names.map(name => (
        <div key={name}>
          <Box component="span" sx={{ color: 'text.secondary' }}>
            {labelOf(name)}:{' '}
          </Box>
          {before && (
            <Value removed>
              <Named name={name} value={before[name]} text={textOf(name, before)} />
            </Value>
          )}
          {before && after && ' → '}
          {after && (
            <Value>
              <Named name={name} value={after[name]} text={textOf(name, after)} />
            </Value>
          )}
        </div>
      ))}
      {erased && <em>Personal data was erased.</em>}
    </Box>
  )
}

function Value({ children, removed }: { children: ReactNode; removed?: boolean }) {
  return (
    <Box
      component={removed ? 'del' : 'span'}
      dir="auto"
      sx={{ whiteSpace: 'pre-wrap', textDecorationColor: 'rgba(128, 128, 128, 0.7)' }}
    >
      {children}
    </Box>
  )
}
