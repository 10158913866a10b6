/** Accounts of the demo, and the affiliates that they are. */
import { insertUsers, type NewUser } from '../../accounts/users/store.ts'
import { foldAccents, foldCase } from '../../base/text.ts'
import { affiliates } from '../../programme/affiliates/store.ts'
import { addDefaultLinks } from '../../programme/links/store.ts'
import type { Tx } from '../../storage/database.ts'
import { type Chance, pick } from './random.ts'

const FIRST_NAMES =
  'Ada Ben Chiara Dmitri Elif Farid Grace Hanna Ivo Jana Kenji Lena Mateo Nia Omar Priya Quentin Rosa Sven Tara'.split(
    ' ',
  )
const LAST_NAMES =
  'Abbott Bauer Costa Dubois Eriksen Fischer Garcia Haddad Ito Jansen Kaya Lopez Moreau Novak Okafor Patel Rossi Silva Tanaka Weber'.split(
    ' ',
  )
const RATES = [null, null, null, 150_000, 250_000, 75_000, 300_000]
/** Who has applied since then is not judged yet. */
const APPLIED_FROM = 0.9

const STATUSES = [...Array<'active'>(8).fill('active'), 'inactive', 'rejected'] as const
const LATELY = ['pending', 'pending', 'active'] as const

interface Registration {
  readonly part: number
  readonly time: number
  readonly random: () => number
}

interface Made {
  /** Those who earn. */
  readonly earners: number[]
  readonly users: number[]
}

/**
 * @param numbers of the affiliates, from 1
 * @param total how many the demo has
 */
export async function addPeople(
  tx: Tx,
  numbers: readonly number[],
  total: number,
  { random, timeAt }: Chance,
): Promise<Made> {
  const users = await insertUsers(
    tx,
    numbers.map(number => demoUser(number, timeAt(number / total), random)),
  )
  const rows = users.map((user, index) => {
    const part = numbers[index]! / total
    return demoAffiliate(user, numbers[index]!, { part, time: timeAt(part), random })
  })
  const ids = await affiliates.insertMany(tx, rows)
  await addDefaultLinks(
    tx,
    rows.map((row, index) => ({ ...row, id: ids[index]! })),
  )
  const earners = ids.filter((_, index) => rows[index]!.status === 'active')
  return { earners, users }
}

function demoUser(number: number, time: number, random: () => number): NewUser {
  const first_name = pick(FIRST_NAMES, random)
  const last_name = pick(LAST_NAMES, random)
  const login = `${first_name}.${last_name}.${number}`.toLowerCase()
  const email = `${login}@example.com`
  const display_name = `${first_name} ${last_name}`
  return {
    login,
    login_key: foldCase(login),
    email,
    email_key: foldCase(email),
    first_name,
    last_name,
    display_name,
    display_name_key: foldAccents(display_name),
    role: '',
    password_hash: '',
    registered_at: time,
    updated_at: time,
  }
}

/** @param part how far into the demo's time, from 0 to 1 */
function demoAffiliate(user_id: number, number: number, { part, time, random }: Registration) {
  const rate = pick(RATES, random)
  const payment_email = random() < 0.4 ? `pay.${number}@example.org` : ''
  return {
    user_id,
    rate,
    rate_type: rate === null ? null : random() < 0.8 ? 'percentage' : 'flat',
    payment_email,
    payment_email_key: foldCase(payment_email),
    status: pick(part > APPLIED_FROM ? LATELY : STATUSES, random),
    earnings: 0,
    unpaid_earnings: 0,
    referrals: 0,
    visits: 0,
    notes: '',
    registered_at: time,
    updated_at: time,
  }
}
