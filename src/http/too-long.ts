/** Advice for requests that take too long. */
import { Failure } from '../base/errors.ts'
import { DatabaseUnavailable } from '../storage/database.ts'
import { type Endpoint, inPath } from './endpoint.ts'

/** Arguments that do not shorten a list. */
const OTHERS = ['number', 'offset', 'orderby', 'order', 'cursor', 'count', 'fields', 'filter', 'format']

/**
 * @returns for a read that exceeded its time budget, a failure that names the arguments to narrow it; otherwise the
 * error itself
 */
export function tooLong(
  error: unknown,
  endpoint: Endpoint,
  args: Readonly<Record<string, unknown>>,
): unknown {
  if (!(error instanceof DatabaseUnavailable && error.reason === 'too long')) return error
  const inUrl = inPath(endpoint)
  const unused = Object.keys(endpoint.arguments.properties).filter(
    name => args[name] === undefined && !OTHERS.includes(name) && !inUrl.includes(name),
  )
  const advice = [
    ...(unused.length > 0 ? [`narrow it by ${unused.join(', ')}`] : []),
    ...('number' in endpoint.arguments.properties ? ['ask for fewer with number'] : []),
    ...(args.offset ? ['go on by cursor instead of offset'] : []),
    ...(args.count ? ['leave out count'] : []),
    'or ask again when there is less to do',
  ]
  return new Failure('took_too_long', {
    message: `The answer takes longer to find than it may: ${advice.join(', ')}.`,
    cause: error,
  })
}
