import AddIcon from '@mui/icons-material/Add'
import UsersIcon from '@mui/icons-material/ManageAccountsOutlined'
import { Button, Stack, Typography } from '@mui/material'
import { ListBase, SelectInput } from 'react-admin'
import { Link } from 'react-router-dom'
import { Allowed } from '../ui/Allowed.tsx'
import { Cards, Ends } from '../ui/Cards.tsx'
import type { Column } from '../ui/column.ts'
import { day, time } from '../ui/format.ts'
import { Filters, Rows, Search } from '../ui/ListFrame.tsx'
import { Empty, Page } from '../ui/Page.tsx'
import { RecordTable } from '../ui/RecordTable.tsx'
import { Breakable, RowLink } from '../ui/table.tsx'
import { capital } from '../ui/words.ts'
import { roleChoices, type User, userName } from './user.ts'

export function UserList() {
  return (
    <ListBase
      resource="users"
      perPage={25}
      sort={{ field: 'date_registered', order: 'DESC' }}
      storeKey={false}
    >
      <Page title="Accounts" actions={<CreateUser />}>
        <Filters search={<Search hint="Name, login name or e-mail" />}>
          <SelectInput
            source="role"
            label="Role"
            choices={roleChoices}
            emptyText="Any"
            helperText={false}
            margin="none"
            sx={{ minWidth: 150 }}
          />
        </Filters>
        <Rows empty={<NoUsers />} table={<UserTable />} cards={<UserCards />} />
      </Page>
    </ListBase>
  )
}

const CreateUser = () => (
  <Allowed to="users.create">
    <Button component={Link} to="/users/create" variant="contained" startIcon={<AddIcon />}>
      Create account
    </Button>
  </Allowed>
)

const NoUsers = () => (
  <Empty icon={<UsersIcon />} title="No accounts yet" action={<CreateUser />}>
    An account can become an affiliate, own API keys, or log in here with a role.
  </Empty>
)

const pageOf = (user: User) => `/users/${user.id}`

/** Role of an account: administrative role, or affiliate. */
function roleOf(user: User): string {
  if (user.role === '') return '–'
  const role = capital(user.role)
  return user.can_log_in ? role : `${role} without a password`
}

const UserTable = () => <RecordTable<User> label="Accounts" columns={columns} to={pageOf} />

const columns: Column<User>[] = [
  {
    label: 'Name',
    cell: user => (
      <RowLink to={pageOf(user)}>
        <bdi>{userName(user)}</bdi>
      </RowLink>
    ),
    minWidth: 110,
  },
  {
    label: 'Login name',
    sort: 'login',
    cell: user => <bdi>{user.login}</bdi>,
    maxWidth: 260,
    wideOnly: true,
  },
  { label: 'E-mail', sort: 'email', cell: user => <Breakable text={user.email} />, minWidth: 220 },
  { label: 'Role', sort: 'role', cell: roleOf },
  {
    label: 'Affiliate',
    cell: user =>
      user.affiliate_id ? (
        <RowLink to={`/affiliates/${user.affiliate_id}/show`}>#{user.affiliate_id}</RowLink>
      ) : (
        '–'
      ),
  },
  {
    label: 'Registered',
    sort: 'date_registered',
    cell: user => <span title={time(user.date_registered)}>{day(user.date_registered)}</span>,
    figures: true,
    wideOnly: true,
  },
]

function UserCards() {
  return (
    <Cards<User> columns={columns} to={pageOf}>
      {user => (
        <Stack>
          <Ends
            left={
              <Typography variant="body2" component="span" sx={{ fontWeight: 580 }}>
                <bdi>{userName(user)}</bdi>
              </Typography>
            }
            right={
              <Typography variant="caption">
                {user.role !== ''
                  ? capital(user.role)
                  : user.affiliate_id
                    ? `Affiliate #${user.affiliate_id}`
                    : ''}
              </Typography>
            }
          />
          <Typography variant="caption" sx={{ color: 'text.secondary', overflowWrap: 'break-word' }}>
            <Breakable text={user.email} />
          </Typography>
        </Stack>
      )}
    </Cards>
  )
}
