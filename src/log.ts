import { type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { type Logger, pino } from 'pino'

/** One line per request, with what an operator needs: never a query, a header or a body, which may hold secrets. */
export class RequestLog extends LogController {
  override incomingRequest(): void {}

  override requestCompleted(_error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    request.log.info(
      {
        id: request.id,
        key: request.actor?.name,
        method: request.method,
        path: request.url.split('?', 1)[0],
        status: reply.statusCode,
        durationMs: Math.round(reply.elapsedTime * 1000) / 1000,
      },
      'request',
    )
  }
}

/**
 * Logs to standard error: JSON lines, or readable ones when it is a terminal. Lines are written together a few times
 * a second when many come, so that a request does not wait for its line.
 */
export async function openLog(level: string): Promise<Logger> {
  const options = { level, base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime }
  if (process.stderr.isTTY) {
    const { default: pretty } = await import('pino-pretty')
    return pino(options, pretty({ destination: 2, sync: true, ignore: 'pid', translateTime: 'HH:MM:ss' }))
  }
  return pino(options, pino.destination({ dest: 2, sync: false, minLength: 4096, periodicFlush: 200 }))
}
