/**
 * The headers of answers that say something to the caller. Handlers set no others, OpenAPI describes each where it is sent, and
 * pages of other origins may read all of them.
 */

const text = (description: string) => ({ description, schema: { type: 'string' } }) as const
const count = (description: string) => ({ description, schema: { type: 'integer', minimum: 0 } }) as const

export const answerHeaders = {
  'X-Request-Id': text('Names the request in the log of the service.'),
  'X-Ignored-Arguments': text(
    'Where there are any: the arguments that are none here or had no value, with commas between them.',
  ),
  ETag: text('Names what the record shows, for If-Match and If-None-Match.'),
  Location: text('The address of what was created.'),
  Link: text('The address of the next page, with rel="next", while there is more.'),
  'X-Total-Count': count('With count=1: how many there are on all pages.'),
  'X-WP-Total': count('How many there are on all pages.'),
  'X-WP-TotalPages': count('How many pages there are.'),
  'Content-Disposition': text('The name of the file.'),
  'Idempotent-Replayed': {
    description: 'Where the answer, or a part of it, is that to an earlier request.',
    schema: { type: 'string', enum: ['true'] },
  },
  'RateLimit-Limit': count('How many requests the API key has in a minute; absent where there is no limit.'),
  'RateLimit-Remaining': count('How many of them are left.'),
  'RateLimit-Reset': count('In how many seconds the minute is over.'),
  'RateLimit-Policy': text('The limit, with its window in seconds: 600;w=60.'),
  'Retry-After': count('In how many seconds to try again.'),
  'WWW-Authenticate': text('How an API key is sent.'),
  Allow: text('The methods of the route.'),
} as const

export type AnswerHeader = keyof typeof answerHeaders

/** What an answer sets. */
export type AnswerHeaders = Partial<Record<AnswerHeader | 'Content-Type', string>>
