/**
 * Accounts in the format of WordPress's `/wp-json/wp/v2/users`, where client programs of AffiliateWP find and create
 * accounts with the same key. Fields of WordPress that this service does not have are empty.
 */
import { type Static, Type } from 'typebox'
import { type Problems, refuseInvalid } from '../../base/errors.ts'
import { choice, email, identifier, line } from '../../base/schemas.ts'
import { formatTime } from '../../base/time.ts'
import { type Call, createdAnswer, endpoint, type Resource } from '../../http/endpoint.ts'
import { direction } from '../../http/list.ts'
import { renderer } from '../../http/render.ts'
import * as rules from './rules.ts'
import { filterArguments, MAX_LOGIN_LENGTH } from './schema.ts'
import { orders } from './store.ts'

const MOST_PER_PAGE = 100
const DEFAULT_PER_PAGE = 10
const FURTHEST_PAGE = 10_000

const record = Type.Object({
  id: Type.Integer({ description: 'Identifier of the account.' }),
  username: Type.String({ description: 'Login name.' }),
  name: Type.String({ description: 'Display name.' }),
  first_name: Type.String({ description: 'First name; may be empty.' }),
  last_name: Type.String({ description: 'Last name; may be empty.' }),
  email: Type.String({ description: 'E-mail address.' }),
  url: Type.String({ description: 'Always empty.' }),
  description: Type.String({ description: 'Always empty.' }),
  slug: Type.String({ description: 'Login name.' }),
  roles: Type.Array(Type.String(), { description: 'Role of the account; empty if it has none.' }),
  registered_date: Type.String({ description: 'When the account was created: YYYY-MM-DDTHH:MM:SS+00:00.' }),
})
type WordPressUser = Static<typeof record>
const render = renderer<WordPressUser>(record)

const context = Type.Optional(choice(['view', 'embed', 'edit'], 'Accepted, but has no effect.'))
const name = (description: string) => Type.Optional(line(250, description))

function recordOf(user: Parameters<typeof rules.recordOf>[0]): WordPressUser {
  return {
    id: user.id,
    username: user.login,
    name: user.display_name,
    first_name: user.first_name,
    last_name: user.last_name,
    email: user.email,
    url: '',
    description: '',
    slug: user.login,
    roles: user.role === '' ? [] : [user.role],
    registered_date: `${formatTime(user.registered_at).replace(' ', 'T')}+00:00`,
  }
}

const answerOne = async (call: Call, id: number) =>
  ({ status: 200, body: render(recordOf(await rules.findAccount(call, id))) }) as const

/** By the name that the caller has sent. */
async function problemsOf(username: string | undefined): Promise<Problems> {
  if (username === undefined) return {}
  const { login } = await rules.problemsOfUser({ login: username })
  return login === undefined ? {} : { username: login }
}

export const wordPressUsers: Resource = {
  name: 'users',
  title: 'Users',
  record,
  missing: 'no_user',
  endpoints: [
    endpoint({
      methods: ['GET'],
      path: '/users',
      permission: 'users.read',
      summary: 'List accounts',
      arguments: Type.Object({
        page: Type.Optional(Type.Integer({ minimum: 1, maximum: FURTHEST_PAGE, default: 1 })),
        per_page: Type.Optional(
          Type.Integer({ minimum: 1, maximum: MOST_PER_PAGE, default: DEFAULT_PER_PAGE }),
        ),
        search: filterArguments.search,
        include: filterArguments.user_id,
        exclude: filterArguments.exclude,
        slug: filterArguments.login,
        offset: Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: FURTHEST_PAGE * MOST_PER_PAGE,
            description: 'Number of accounts to skip, instead of page.',
          }),
        ),
        orderby: Type.Optional(choice(['name', 'id', 'email', 'registered_date'])),
        order: Type.Optional(direction),
        context,
      }),
      answer: { status: 200, schema: Type.Array(record), headers: ['X-WP-Total', 'X-WP-TotalPages'] },
      handle: async (call, { page = 1, per_page = DEFAULT_PER_PAGE, offset, ...args }) => {
        const { search = '', include = [], exclude = [], slug = [], ...sorting } = args
        const filters = { search, user_id: include, exclude, login: slug }
        const total = await rules.countUsers(call, filters)
        const rows = await rules.listUsers(call, filters, {
          order: orderBy(sorting.orderby ?? 'name'),
          descending: sorting.order === 'desc',
          offset: offset ?? (page - 1) * per_page,
          limit: per_page,
        })
        return {
          status: 200,
          headers: {
            'X-WP-Total': String(total),
            'X-WP-TotalPages': String(Math.ceil(total / per_page)),
          },
          body: `[${rows.map(row => render(recordOf(row))).join(',')}]`,
        }
      },
    }),
    endpoint({
      methods: ['POST'],
      path: '/users',
      permission: 'users.create',
      summary: 'Create an account without a role',
      arguments: Type.Object({
        username: line(MAX_LOGIN_LENGTH, 'Login name: letters, digits, space and _.-@'),
        email: email('E-mail address.'),
        password: Type.Optional(
          line(1000, 'Accepted but not stored, because an account without a role cannot log in.'),
        ),
        first_name: name('First name.'),
        last_name: name('Last name.'),
        name: name('Display name; when omitted, the first and last name, or else the login name.'),
        context,
      }),
      answer: createdAnswer(record),
      failures: ['email_taken', 'login_taken'],
      check: (_call, { username }) => problemsOf(username),
      handle: async (call, { username, name, password: _, context: __, ...rest }) => {
        refuseInvalid(await problemsOf(username))
        const user = await rules.createUser(call, {
          ...rest,
          login: username,
          ...(name !== undefined && { display_name: name }),
        })
        return {
          status: 201,
          headers: { Location: `${call.collectionUrl}/${user.id}` },
          body: render(recordOf({ ...user, ...rules.fresh })),
        }
      },
    }),
    endpoint({
      methods: ['GET'],
      path: '/users/me',
      permission: 'users.read',
      summary: 'Get the account that the key belongs to',
      arguments: Type.Object({ context }),
      answer: { status: 200, schema: record },
      quick: true,
      handle: call => answerOne(call, call.actor.userId),
    }),
    endpoint({
      methods: ['GET'],
      path: '/users/{user_id}',
      permission: 'users.read',
      summary: 'Get an account',
      arguments: Type.Object({ user_id: identifier('Identifier of the account.'), context }),
      answer: { status: 200, schema: record },
      failures: ['no_user'],
      quick: true,
      handle: (call, { user_id }) => answerOne(call, user_id),
    }),
  ],
}

/** Logins and e-mail addresses have an index, names do not. */
function orderBy(order: 'name' | 'id' | 'email' | 'registered_date') {
  const columns = { name: 'login', id: 'id', email: 'email', registered_date: 'date_registered' }
  return orders[columns[order]]!
}
