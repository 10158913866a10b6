/**
 * The headers of answers that say something to the caller. Handlers set no others, OpenAPI describes each where it is sent, and
 * pages of other origins may read all of them.
 */

const text = (description: string) => ({ description, schema: { type: 'string' } }) as const
const count = (description: string) => ({ description, schema: { type: 'integer', minimum: 0 } }) as const

export const answerHeaders = {
  'X-Request-Id': text("Identifies the request in the service's log."),
  'X-Ignored-Arguments': text(
    'Arguments that were ignored, separated by commas: unknown ones, and those without a value. Absent if there are none.',
  ),
  ETag: text('Entity tag of the fields that are shown, for If-Match and If-None-Match.'),
  Location: text('URL of the created record.'),
  Link: text('URL of the next page, with rel="next"; absent if there are no more records.'),
  'X-Total-Count': count('Only with count=1: number of records on all pages.'),
  'X-WP-Total': count('Number of records on all pages.'),
  'X-WP-TotalPages': count('Number of pages.'),
  'Content-Disposition': text('File name of the download.'),
  'Idempotent-Replayed': {
    description: 'Sent if the answer, or a part of it, is that to an earlier request.',
    schema: { type: 'string', enum: ['true'] },
  },
  'RateLimit-Limit': count('Requests that the API key may make per minute; absent if there is no limit.'),
  'RateLimit-Remaining': count('Requests left in this minute.'),
  'RateLimit-Reset': count('Seconds until this minute is over.'),
  'RateLimit-Policy': text('The limit and its window in seconds: 600;w=60.'),
  'Retry-After': count('Seconds to wait before trying again.'),
  'WWW-Authenticate': text('How to send an API key.'),
  Allow: text('Methods that the route accepts.'),
} as const

export type AnswerHeader = keyof typeof answerHeaders

/** What an answer sets. */
export type AnswerHeaders = Partial<Record<AnswerHeader | 'Content-Type', string>>
