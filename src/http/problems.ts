/** The only place where an error becomes a response. */
import { entryOf, Failure, type FailureName } from '../base/errors.ts'
import { codeOf, memberOf } from '../base/unknown.ts'
import { DatabaseUnavailable, type Reason } from '../storage/database.ts'
import type { AnswerHeaders } from './headers.ts'

export interface Problem {
  readonly status: number
  readonly headers: Readonly<AnswerHeaders>
  /** JSON. */
  readonly body: string
}

const RETRY_AFTER_SECONDS = '1'
/** Reasons why nothing was written, in words that callers may see, in place of the catalogue's message. */
const sentences: Partial<Record<Reason, string>> = {
  full: 'The disk of the database is full, so nothing can be written. Nothing was changed; try again when there is room.',
  'read-only': 'The database can only be read at the moment. Nothing was changed; try again.',
  failing: 'The disk of the database fails. Nothing was changed; try again when it works.',
  damaged: 'The database is damaged: its operator has to restore a backup. Nothing was changed.',
  removed:
    'The file of the database was removed or replaced while the service ran. Nothing was changed; the service answers again once its file is back.',
  replaced:
    'A file that belongs to the database was replaced while the service ran. Nothing was changed; its operator has to start the service again.',
  'in doubt':
    'The database failed while it confirmed the change, or after it. Look whether the change was made before you try again.',
}

/** Requests that Fastify refuses before a handler runs. */
const refusedByFastify: Record<string, FailureName> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'bad_request',
}

/** Requests that Node's HTTP parser refuses. */
const refusedByNode: Record<string, FailureName> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

type FurtherHeader = 'Allow' | 'Retry-After' | 'WWW-Authenticate'

const furtherByStatus: Readonly<Partial<Record<number, FurtherHeader>>> = {
  405: 'Allow',
  429: 'Retry-After',
  503: 'Retry-After',
}

/** The header that says more of a failure. */
export function furtherHeader(failure: FailureName): FurtherHeader | undefined {
  // Only for API keys: a browser would show its own password dialog.
  if (failure === 'unauthenticated') return 'WWW-Authenticate'
  return furtherByStatus[entryOf(failure).status]
}

const furtherValues: Readonly<Record<FurtherHeader, (failure: Failure) => string>> = {
  Allow: ({ data }) => [data.allow].flat().join(', '),
  'Retry-After': ({ failure, data }) =>
    entryOf(failure).status === 429 ? String(data.retry_after) : RETRY_AFTER_SECONDS,
  'WWW-Authenticate': () => 'Basic realm="affiliated", charset="UTF-8"',
}

/** @param error anything that was thrown */
export function problemOf(error: unknown): Problem {
  const failure = failureOf(error)
  const { code, status } = entryOf(failure.failure)
  const headers: AnswerHeaders = { 'Content-Type': 'application/json; charset=utf-8' }
  const header = furtherHeader(failure.failure)
  if (header) headers[header] = furtherValues[header](failure)
  return {
    status,
    headers,
    body: JSON.stringify({ code, message: failure.message, data: { status, ...failure.data } }),
  }
}

const UNREADABLE_URL =
  'The URL has characters that a URL cannot have: percent-encode them, such as é as %C3%A9.'

/** The response on a connection where no request could be parsed. */
export function connectionProblem({ code = '' }: { code?: string }): Problem {
  if (code === 'HPE_INVALID_URL') return problemOf(new Failure('bad_request', { message: UNREADABLE_URL }))
  return problemOf(new Failure(refusedByNode[code] ?? 'bad_request'))
}

/** Whether the only error is that the client has disconnected. */
export function isUnwanted(error: unknown): boolean {
  if (error instanceof DatabaseUnavailable) return error.reason === 'not wanted'
  // Of an answer whose pieces were not read to the end.
  return codeOf(error) === 'ERR_STREAM_PREMATURE_CLOSE'
}

/**
 * For the log: what went wrong in the service or its database.
 * @returns undefined where the fault is the caller's, nobody waits for the answer, or the service refuses what is too much
 */
export function faultOf(error: unknown): unknown {
  if (isUnwanted(error)) return undefined
  const { failure, cause } = failureOf(error)
  return entryOf(failure).status >= 500 ? cause : undefined
}

/** The failure for any error. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error
  if (error instanceof DatabaseUnavailable) {
    const message = sentences[error.reason]
    return new Failure('unavailable', { cause: error, ...(message && { message }) })
  }
  const refusal = refusedByFastify[codeOf(error)]
  if (refusal) return new Failure(refusal)
  const statusCode = memberOf(error, 'statusCode')
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500)
    return new Failure('bad_request')
  return new Failure('internal', { cause: error })
}
