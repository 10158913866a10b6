import type { FastifyReply, FastifyRequest, onResponseHookHandler } from 'fastify'
import { type Logger, pino } from 'pino'
import { memberOf } from '../../base/unknown.ts'

/**
 * Logs one line per request, for operators: never a query, header or body, which may contain secrets. The line is
 * concatenated by hand, since it is written for every request and always has the same few fields.
 */
export function finish(logger: Logger): onResponseHookHandler {
  const stream = streamOf(logger)
  const time = clock()
  const line = ({ actor, url, id, method }: FastifyRequest, { elapsedTime, statusCode }: FastifyReply) => {
    const query = url.indexOf('?')
    const key = actor ? `"key":${JSON.stringify(actor.name)},` : ''
    const path = JSON.stringify(query < 0 ? url : url.slice(0, query))
    const durationMs = Math.round(elapsedTime * 1000) / 1000
    return `{"level":30,"time":"${time()}","pid":${process.pid},"id":"${id}",${key}"method":"${method}","path":${path},"status":${statusCode},"durationMs":${durationMs},"msg":"request"}\n`
  }
  return (request, reply, done) => {
    if (logger.isLevelEnabled('info')) stream.write(line(request, reply))
    done()
  }
}

/** The stream that the logger writes to, for which pino has no public interface. */
function streamOf(logger: Logger): { write(line: string): void } {
  const stream: unknown = Reflect.get(logger, pino.symbols.streamSym)
  if (!isWritable(stream)) throw new TypeError('this version of pino keeps its stream elsewhere')
  return stream
}

function isWritable(value: unknown): value is { write(line: string): void } {
  return typeof memberOf(value, 'write') === 'function'
}

/** The time as text, formatted once per millisecond. */
function clock(): () => string {
  let at = 0
  let text = ''
  return () => {
    const milliseconds = Date.now()
    if (milliseconds !== at) {
      at = milliseconds
      text = new Date(milliseconds).toISOString()
    }
    return text
  }
}
