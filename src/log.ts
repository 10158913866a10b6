import { type FastifyBaseLogger, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { type Logger, pino } from 'pino'

/**
 * One line per request, with what an operator needs: never a query, a header or a body, which may hold secrets. It is
 * put together by hand, because it is written for every request and has always the same few fields.
 */
export class RequestLog extends LogController {
  readonly #logger: FastifyBaseLogger
  readonly #stream: { write(line: string): void }
  #time = { milliseconds: 0, text: '' }

  constructor(logger: FastifyBaseLogger) {
    super()
    this.#logger = logger
    this.#stream = (logger as unknown as { [pino.symbols.streamSym]: { write(line: string): void } })[
      pino.symbols.streamSym
    ]
  }

  override incomingRequest(): void {}

  override requestCompleted(_error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    if (!(this.#logger as Logger).isLevelEnabled('info')) return
    const { actor, url } = request
    const query = url.indexOf('?')
    const key = actor ? `"key":${JSON.stringify(actor.name)},` : ''
    const path = JSON.stringify(query < 0 ? url : url.slice(0, query))
    const durationMs = Math.round(reply.elapsedTime * 1000) / 1000
    this.#stream.write(
      `{"level":30,"time":"${this.#now()}","pid":${process.pid},"id":"${request.id}",${key}"method":"${request.method}","path":${path},"status":${reply.statusCode},"durationMs":${durationMs},"msg":"request"}\n`,
    )
  }

  /** Requests come many to a millisecond. */
  #now(): string {
    const milliseconds = Date.now()
    if (milliseconds !== this.#time.milliseconds) {
      this.#time = { milliseconds, text: new Date(milliseconds).toISOString() }
    }
    return this.#time.text
  }
}

const ALONE = { minLength: 8192, maxWrite: 16_384 }
/**
 * Processes that write to one pipe tear each other's lines apart, unless a write is at most PIPE_BUF long (4096 on
 * Linux): lines are put together up to `maxWrite` bytes. Only a line that is longer by itself may still be torn.
 */
const AMONG_OTHERS = { minLength: 2048, maxWrite: 4096 }

/**
 * Logs to standard error: JSON lines, or readable ones when it is a terminal. Lines are written together a few times
 * a second when many come, so that a request does not wait for its line.
 * @param shared whether other processes log to the same place
 */
export async function openLog(level: string, shared: boolean): Promise<Logger> {
  const options = { level, base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime }
  if (process.stderr.isTTY) {
    const { default: pretty } = await import('pino-pretty')
    return pino(options, pretty({ destination: 2, sync: true, ignore: 'pid', translateTime: 'HH:MM:ss' }))
  }
  const sizes = shared ? AMONG_OTHERS : ALONE
  return pino(options, pino.destination({ dest: 2, sync: false, periodicFlush: 200, ...sizes }))
}

/** Waits for the lines that are on their way to where they are logged: `process.exit` would lose them. */
export async function linesWritten(log: Logger): Promise<void> {
  // An error here is that of fsync, which pipes do not have.
  await new Promise(resolve => log.flush(resolve))
}
