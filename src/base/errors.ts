/**
 * The catalogue of failures: every way in which a request can fail. Rules throw a `Failure` by name and know nothing of
 * HTTP statuses; only `http/problems.ts` turns it into a response. `message` and `data` are for the caller, `cause` is
 * for the log alone.
 */
export const catalogue = {
  missing_argument: {
    status: 400,
    code: 'rest_missing_callback_param',
    message: 'A required argument is missing.',
  },
  invalid_argument: { status: 400, code: 'rest_invalid_param', message: 'An argument is not valid.' },
  invalid_json: {
    status: 400,
    code: 'rest_invalid_json',
    message:
      'The body must be one JSON object, encoded as UTF-8, with at most 32 levels of nesting and 20,000 names.',
  },
  missing_user: {
    status: 400,
    code: 'affwp_rest_affiliate_missing_user',
    message: 'Send user_id, the account to link, or create_user=true with a payment_email to make one.',
  },
  unauthenticated: {
    status: 401,
    code: 'rest_forbidden',
    message: 'Send a valid API key: Authorization: Basic base64(public_key:token), or Bearer token.',
  },
  wrong_signature: {
    status: 401,
    code: 'rest_forbidden',
    message: 'The signature of the delivery is not right, or there is no such source.',
  },
  wrong_login: { status: 401, code: 'rest_wrong_login', message: 'Login or password is wrong.' },
  second_factor_required: {
    status: 401,
    code: 'rest_second_factor_required',
    message: 'Send code as well: the code that your app shows, or a recovery code.',
  },
  wrong_code: {
    status: 401,
    code: 'rest_wrong_code',
    message:
      'The code is not right, or was used before. Wait for the next one that your app shows, or send a recovery code that is not used yet.',
  },
  recovery_ended: {
    status: 400,
    code: 'rest_recovery_ended',
    message: 'The link was used, or is older than an hour. Ask for a new one.',
  },
  no_session: {
    status: 404,
    code: 'invalid_session_id',
    message: 'There is no session with this identifier, or it has ended.',
  },
  no_second_factor: {
    status: 404,
    code: 'rest_no_second_factor',
    message: 'The account has no second factor: begin to set one up.',
  },
  second_factor_active: {
    status: 409,
    code: 'rest_second_factor_active',
    message: 'The account has a second factor: remove it before you set up another one.',
  },
  no_role: {
    status: 403,
    code: 'rest_no_role',
    message:
      'Login and password are right, but the account has no role here. Ask an administrator to give it one.',
  },
  session_required: {
    status: 401,
    code: 'rest_session_required',
    message: 'Log in first: there is no session, or it has ended.',
  },
  forbidden: { status: 403, code: 'rest_forbidden', message: 'This API key does not have the permission.' },
  cross_site: {
    status: 403,
    code: 'rest_forbidden',
    message: 'The administration area takes requests from its own pages only.',
  },
  no_route: { status: 404, code: 'rest_no_route', message: 'No route matches the URL.' },
  no_customer: { status: 404, code: 'invalid_customer', message: 'There is no such customer.' },
  no_user: { status: 404, code: 'invalid_user_id', message: 'There is no account with this identifier.' },
  no_key: { status: 404, code: 'invalid_key_id', message: 'There is no API key with this identifier.' },
  no_method: {
    status: 405,
    code: 'rest_no_route',
    message: 'This route does not take this method; the Allow header lists those it takes.',
  },
  request_timeout: {
    status: 408,
    code: 'rest_request_timeout',
    message: 'The request did not arrive in time.',
  },
  email_taken: {
    status: 409,
    code: 'existing_user_email',
    message: 'Another account has this e-mail address.',
  },
  login_taken: { status: 409, code: 'existing_user_login', message: 'Another account has this login name.' },
  already_affiliate: {
    status: 409,
    code: 'affwp_rest_affiliate_user_exists',
    message: 'This account is an affiliate already.',
  },
  idempotency_mismatch: {
    status: 409,
    code: 'rest_idempotency_mismatch',
    message: 'This Idempotency-Key named another request within the last 24 hours: choose a new key.',
  },
  answer_erased: {
    status: 410,
    code: 'rest_answer_erased',
    message:
      'This request was done before. Its answer was removed, because the person whom it was about has been erased.',
  },
  last_administrator: {
    status: 409,
    code: 'rest_last_administrator',
    message: 'This is the last administrator who can log in: make another account administrator first.',
  },
  code_taken: {
    status: 409,
    code: 'rest_link_code_in_use',
    message: 'Another link has this code: choose another one, or send none.',
  },
  customer_exists: {
    status: 409,
    code: 'affwp_rest_customer_email_in_use',
    message: 'Another customer has this e-mail address.',
  },
  referral_conflict: {
    status: 409,
    code: 'rest_referral_conflict',
    message: 'The referral is not in a state that allows this.',
  },
  wrong_status: {
    status: 409,
    code: 'rest_wrong_status',
    message: 'The record has another status than those of which this was asked for.',
  },
  reference_taken: {
    status: 409,
    code: 'rest_referral_exists',
    message: 'Another referral of this affiliate has the same context, reference and type.',
  },
  conversion_exists: {
    status: 409,
    code: 'rest_conversion_exists',
    message: 'The same was reported with another amount or currency.',
  },
  conversion_conflict: {
    status: 409,
    code: 'rest_conversion_conflict',
    message: 'What was reported of the payment before does not allow this.',
  },
  group_exists: {
    status: 409,
    code: 'rest_group_exists',
    message: 'Another group has this name.',
  },
  record_in_use: {
    status: 409,
    code: 'rest_record_in_use',
    message: 'Other records belong to it: delete those first.',
  },
  group_in_use: {
    status: 409,
    code: 'rest_group_in_use',
    message: 'Affiliates belong to the group, or a rule is for it: move them first, and end the rule.',
  },
  coupon_exists: {
    status: 409,
    code: 'rest_coupon_exists',
    message: 'Another coupon has this code.',
  },
  exchange_rate_exists: {
    status: 409,
    code: 'rest_exchange_rate_exists',
    message: 'There is a rate of these currencies from the same moment on: edit that one.',
  },
  rule_conflict: {
    status: 409,
    code: 'rest_rule_conflict',
    message: 'Only the current version of a rule can be edited or ended.',
  },
  payout_conflict: {
    status: 409,
    code: 'rest_payout_conflict',
    message: 'The payout cannot pay what it names.',
  },
  run_conflict: {
    status: 409,
    code: 'rest_payout_run_conflict',
    message: 'The payout run is not in a state that allows this.',
  },
  secret_key: {
    status: 409,
    code: 'rest_secret_key',
    message:
      'This is stored sealed by a secret key, and the service has none: start it with SECRET_KEY or --secret-key-file.',
  },
  second_person: {
    status: 403,
    code: 'rest_second_person',
    message: 'Two people are needed: who prepared the run cannot approve it.',
  },
  balance_exceeded: {
    status: 409,
    code: 'rest_balance_exceeded',
    message: 'An account of this affiliate would hold more than the ledger can. Nothing was changed.',
  },
  precondition_failed: {
    status: 412,
    code: 'rest_precondition_failed',
    message: 'The record is no longer what If-Match names: get it again, and decide anew.',
  },
  body_too_large: {
    status: 413,
    code: 'rest_request_too_large',
    message: 'The body is larger than this request takes: send less, or several parts.',
  },
  unsupported_media_type: {
    status: 415,
    code: 'rest_unsupported_media_type',
    message:
      'Send the body as application/json, application/x-www-form-urlencoded or multipart/form-data; where many can be sent at once, as application/x-ndjson.',
  },
  too_many_requests: {
    status: 429,
    code: 'rest_too_many_requests',
    message: 'This API key has made too many requests; the Retry-After header says when to go on.',
  },
  too_many_refusals: {
    status: 429,
    code: 'rest_too_many_requests',
    message:
      'Too many requests without a valid API key came from this address; the Retry-After header says when to go on.',
  },
  too_many_streams: {
    status: 429,
    code: 'rest_too_many_requests',
    message: 'This caller reads too many long lists at once: read one to its end first.',
  },
  too_many_bodies: {
    status: 429,
    code: 'rest_too_many_requests',
    message:
      'This caller sends too many large bodies, or bodies of many lines, at once: wait for the answer to one first.',
  },
  too_many_answers: {
    status: 429,
    code: 'rest_too_many_requests',
    message:
      'Too many long answers are kept for this caller: leave out Idempotency-Key, or send less in one request. Nothing was changed.',
  },
  headers_too_large: {
    status: 431,
    code: 'rest_request_too_large',
    message: 'The URL and headers are larger than 16 KiB.',
  },
  bad_request: {
    status: 400,
    code: 'rest_bad_request',
    message: 'This is not an HTTP/1.1 request that the service can read.',
  },
  internal: {
    status: 500,
    code: 'rest_internal_error',
    message: 'The service failed to answer. The X-Request-Id header names this request in its log.',
  },
  unavailable: {
    status: 503,
    code: 'rest_unavailable',
    message: 'The database does not answer at the moment. Nothing was changed; try again.',
  },
  took_too_long: {
    status: 503,
    code: 'rest_took_too_long',
    message: 'The answer takes longer to find than it may: narrow what is asked for.',
  },
  overloaded: {
    status: 503,
    code: 'rest_unavailable',
    message: 'The service has more to do than it can. Nothing was changed; try again, more slowly.',
  },
} as const

/** A name in the catalogue, `no_KIND` for a missing record of a kind, or `numbered_KIND` for a new one with an identifier. */
export type FailureName = keyof typeof catalogue | `no_${string}` | `numbered_${string}`

/** The response to a failure. */
export interface Entry {
  readonly status: number
  readonly code: string
  readonly message: string
}

export function entryOf(failure: FailureName): Entry {
  const entries: Readonly<Record<string, Entry>> = catalogue
  const entry = Object.hasOwn(entries, failure) ? entries[failure] : undefined
  if (entry) return entry
  const [, which, kind] = /^(no|numbered)_(.*)$/.exec(failure)!
  if (which === 'numbered') {
    return {
      status: 400,
      code: `affwp_rest_${kind}_exists`,
      message: `The service chooses identifiers: leave out ${kind}_id and id to create a record, or name it in the path to edit one.`,
    }
  }
  return {
    status: 404,
    code: `invalid_${kind}_id`,
    message: `There is no ${kind!.replaceAll('_', ' ')} with this identifier.`,
  }
}

export class Failure extends Error {
  readonly failure: FailureName
  /** Returned to the caller beside code, message and status; for example `params`. */
  readonly data: Record<string, unknown>

  /**
   * @param failure a name in the catalogue
   * @param details `message` replaces the catalogue's sentence with a more precise one; `data` goes to the
   *   caller beside the status; `cause` goes to the log only
   */
  constructor(
    failure: FailureName,
    details: { message?: string; data?: Record<string, unknown>; cause?: unknown } = {},
  ) {
    super(details.message ?? entryOf(failure).message, { cause: details.cause })
    this.name = 'Failure'
    this.failure = failure
    this.data = details.data ?? {}
  }
}

const callerFailures: readonly string[] = ['unauthenticated', 'session_required', 'forbidden']

/** Whether the caller has lost access altogether, so that every further request would fail as well. */
export const isOfCaller = ({ failure }: Failure): boolean => callerFailures.includes(failure)

/** The items that a rule refuses, each with its failure. */
export function refusalsOf<A>(items: readonly A[], judge: (item: A) => void): [A, Failure][] {
  return items.flatMap((one): [A, Failure][] => {
    const refusal = refusalOf(() => judge(one))
    return refusal ? [[one, refusal]] : []
  })
}

/** The failure that a rule throws; undefined if it throws none. Other errors propagate. */
export function refusalOf(judge: () => void): Failure | undefined {
  try {
    judge()
    return undefined
  } catch (error) {
    if (error instanceof Failure) return error
    throw error
  }
}

/** The function's result, or the Failure it threw. Other errors propagate. */
export async function attempted<T>(work: () => T | Promise<T>): Promise<T | Failure> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Failure) return error
    throw error
  }
}

/** Validation problems by argument: what is wrong, and what would be right. */
export type Problems = Record<string, string>

/** One failure that names all invalid arguments. */
export function invalidArguments(problems: Problems): Failure {
  const sentences = Object.entries(problems).map(([name, reason]) => `${name}: ${reason}`)
  return new Failure('invalid_argument', {
    message: `Invalid argument${sentences.length > 1 ? 's' : ''}. ${sentences.join(' ')}`,
    data: { params: problems },
  })
}

/** @throws Failure invalid_argument if there are any problems */
export function refuseInvalid(problems: Problems): void {
  if (Object.keys(problems).length > 0) throw invalidArguments(problems)
}

/** A failure that names the missing required arguments. @param hint a sentence about what else would do */
export function missingArguments(names: string[], hint = ''): Failure {
  return new Failure('missing_argument', {
    message: `Missing argument${names.length > 1 ? 's' : ''}: ${names.join(', ')}. ${hint}`.trim(),
    data: { params: names },
  })
}
