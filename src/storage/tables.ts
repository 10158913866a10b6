/**
 * The tables as Kysely sees them; `migrations.ts` makes them. Times are seconds since 1970 (UTC), money is in
 * minor units, rates are in ten-thousandths, `…_key` columns hold the text folded by `fields.foldCase`.
 */
import type { ColumnType, Generated } from 'kysely'

export interface Tables {
  users: UsersTable
  affiliates: AffiliatesTable
  payouts: PayoutsTable
  payout_referrals: PayoutReferralsTable
  api_keys: ApiKeysTable
  sessions: SessionsTable
  devices: DevicesTable
  login_attempts: LoginAttemptsTable
  idempotency_keys: IdempotencyKeysTable
  rate_types: RateTypesTable
  settings: SettingsTable
  audit_entries: AuditEntriesTable
  audit_seals: AuditSealsTable
  audit_chain: AuditChainTable
}

export type TableWithIdentity =
  | 'users'
  | 'affiliates'
  | 'referrals'
  | 'payouts'
  | 'ledger_transfers'
  | 'api_keys'
  | 'audit_entries'

/** An identifier that the database gives out, never twice. Only copies set it. */
export type Identity = ColumnType<number, number | undefined, never>

export interface UsersTable {
  id: Identity
  login: string
  login_key: string
  email: string
  email_key: string
  first_name: string
  last_name: string
  display_name: string
  display_name_key: string
  role: 'administrator' | ''
  /** scrypt, see `users/password.ts`; '' when the account can't log in. */
  password_hash: string
  registered_at: number
  updated_at: number
}

export interface AffiliatesTable {
  id: Identity
  user_id: number
  /** Null when not set. */
  rate: number | null
  /** Null when not set. */
  rate_type: string | null
  payment_email: string
  payment_email_key: string
  status: 'active' | 'inactive' | 'pending' | 'rejected'
  earnings: number
  unpaid_earnings: number
  referrals: number
  visits: number
  notes: string
  registered_at: number
  updated_at: number
}

export interface PayoutsTable {
  id: Identity
  /** No foreign key: payouts outlive the affiliate that they were made to. */
  affiliate_id: number
  /** As the record shows it; `payout_referrals` is its index. */
  referrals: string
  amount: number
  payout_method: string
  payout_method_key: string
  status: 'paid' | 'failed'
  owner: number
  created_at: number
  updated_at: number
}

interface PayoutReferralsTable {
  referral_id: number
  payout_id: number
  /** 1 when it was a referral of this service when the payout first named it; stays when the referral is gone. */
  known: Generated<0 | 1>
}

export interface ApiKeysTable {
  id: Identity
  public_key: string
  /** SHA-256 of the token, as 64 hexadecimal digits. */
  token_hash: string
  user_id: number
  name: string
  /** Folded, to search by. */
  name_key: string
  /** Comma-separated, such as 'affiliates.read,payouts.create'. */
  permissions: string
  created_at: number
  last_used_at: number | null
  expires_at: number | null
  revoked_at: number | null
}

/** Who is logged in to the administration area. */
export interface SessionsTable {
  /** SHA-256 of what the cookie holds, as 64 hexadecimal digits. */
  token_hash: string
  user_id: number
  created_at: number
  expires_at: number
}

/** The browsers that somebody has logged in with. */
export interface DevicesTable {
  /** SHA-256 of what the cookie holds, as 64 hexadecimal digits. */
  token_hash: string
  user_id: number
  created_at: number
  expires_at: number
}

/** Tries to log in that failed or are under way, once for each counter; kept for as long as they count. */
export interface LoginAttemptsTable {
  attempt: string
  /** Such as 'login ada' or 'network 192.0.2.1'. */
  counter: string
  tried_at: number
}

/** The answers to writes that named themselves by an Idempotency-Key. */
export interface IdempotencyKeysTable {
  /** Who sent it: the public part of the API key, or whose session it was. */
  owner: string
  key: string
  /** SHA-256 of the request, as 64 hexadecimal digits. */
  fingerprint: string
  status: number
  location: string
  body: string
  created_at: number
}

interface RateTypesTable {
  name: string
  position: number
}

interface SettingsTable {
  name: string
  value: string
}

/** Only added to. `personal` alone can be emptied, by the erasure of the person whom it is about. */
export interface AuditEntriesTable {
  id: Identity
  /** Milliseconds since 1970. */
  at: number
  actor_kind: string
  /** The public part of an API key, else ''. */
  actor_name: string
  /** The account: the owner of the API key, or who had logged in. */
  actor_id: number | null
  address: string
  /** Such as 'affiliate.edit'. */
  action: string
  record_kind: string
  record_id: number | null
  /** JSON, or '' when there is nothing to say. */
  before_values: string
  after_values: string
  /** The account whom the change is about. */
  person_id: number | null
  /** SHA-256 of `personal` as it was written, which begins with a salt; '' when there was nothing personal. */
  personal_hash: string
  /** JSON with `salt`, `before` and `after`; '' when there was nothing personal, or it is erased. */
  personal: string
}

/** A link of the hash chain. Only added to. */
export interface AuditSealsTable {
  number: number
  /** Milliseconds since 1970. */
  sealed_at: number
  /** Identifiers of the entries that are sealed, such as '1-5,7'. */
  entries: string
  entry_count: number
  previous_hash: string
  hash: string
}

/** One row: where the chain ends. Whoever holds it may add a seal. */
export interface AuditChainTable {
  id: number
  number: number
  hash: string
  last_entry: number
  /** JSON: identifiers below `last_entry` whose entries were not there yet, as [first, last, since]. */
  missing: string
}
