import AddIcon from '@mui/icons-material/Add'
import UsersIcon from '@mui/icons-material/ManageAccountsOutlined'
import { Box, Button, Stack, Typography } from '@mui/material'
import { DataTable, ListBase, SearchInput, SelectInput } from 'react-admin'
import { Link } from 'react-router-dom'
import { day, time } from '../ui/format.ts'
import { Filters, Rows } from '../ui/ListFrame.tsx'
import { Empty, Page } from '../ui/Page.tsx'
import { Cards, Ends, Figures, RowLink, tableStyle } from '../ui/table.tsx'
import { type User, userName } from './user.ts'

export function UserList() {
  return (
    <ListBase resource="users" perPage={25} sort={{ field: 'id', order: 'DESC' }} storeKey={false}>
      <Page title="Users" actions={<CreateUser />}>
        <Filters
          search={<SearchInput source="search" placeholder="Login, name or e-mail" alwaysOn fullWidth />}
        >
          <SelectInput
            source="role"
            label="Role"
            choices={[{ id: 'administrator', name: 'Administrator' }]}
            emptyText="Any"
            helperText={false}
            sx={{ minWidth: 150 }}
          />
        </Filters>
        <Rows empty={<NoUsers />} table={<UserTable />} cards={<UserCards />} />
      </Page>
    </ListBase>
  )
}

const CreateUser = () => (
  <Button component={Link} to="/users/create" variant="contained" startIcon={<AddIcon />}>
    Create user
  </Button>
)

const NoUsers = () => (
  <Empty icon={<UsersIcon />} title="No users yet" action={<CreateUser />}>
    A user account can become an affiliate, own API keys, or log in here as an administrator.
  </Empty>
)

const pageOf = (user: User) => `/users/${user.id}`

/** What an account is: who may log in here, and who is an affiliate. */
function roleOf(user: User): string {
  if (user.role === 'administrator')
    return user.can_log_in ? 'Administrator' : 'Administrator without a password'
  return '–'
}

function UserTable() {
  return (
    <DataTable<User> rowClick="edit" bulkActionButtons={false} sx={tableStyle}>
      <DataTable.Col
        source="display_name"
        label="Name"
        disableSort
        render={(user: User) => (
          <Box sx={{ maxWidth: 320 }}>
            <Typography component="div" variant="body2" sx={{ fontWeight: 580, overflowWrap: 'anywhere' }}>
              <RowLink to={pageOf(user)}>
                <bdi>{userName(user)}</bdi>
              </RowLink>
            </Typography>
          </Box>
        )}
      />
      <DataTable.Col
        source="login"
        label="Login"
        render={(user: User) => <bdi>{user.login}</bdi>}
        sx={{ overflowWrap: 'anywhere', maxWidth: 280 }}
      />
      <DataTable.Col
        source="email"
        label="E-mail"
        render={(user: User) => <bdi>{user.email}</bdi>}
        sx={{ overflowWrap: 'anywhere', maxWidth: 320 }}
      />
      <DataTable.Col source="role" label="Role" render={roleOf} />
      <DataTable.Col
        source="affiliate_id"
        label="Affiliate"
        disableSort
        render={(user: User) =>
          user.affiliate_id ? (
            <RowLink to={`/affiliates/${user.affiliate_id}/show`}>#{user.affiliate_id}</RowLink>
          ) : (
            '–'
          )
        }
      />
      <Figures<User>
        source="date_registered"
        label="Registered"
        show={user => <span title={time(user.date_registered)}>{day(user.date_registered)}</span>}
      />
    </DataTable>
  )
}

function UserCards() {
  return (
    <Cards<User> to={pageOf}>
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
                {user.role === 'administrator'
                  ? 'Administrator'
                  : user.affiliate_id
                    ? `Affiliate #${user.affiliate_id}`
                    : ''}
              </Typography>
            }
          />
          <Typography variant="caption" sx={{ color: 'text.secondary', overflowWrap: 'anywhere' }}>
            <bdi>{user.email}</bdi>
          </Typography>
        </Stack>
      )}
    </Cards>
  )
}
