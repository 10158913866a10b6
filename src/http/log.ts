import { once } from 'node:events'
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
/** Lines wait in memory while they can't be written. Those beyond are dropped, which is logged. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024

interface OpenLog {
  readonly log: Logger
  /** Waits for the lines that are on their way, which `process.exit` would lose. Nothing is logged afterwards. */
  closeLog(): Promise<void>
}

/**
 * Logs to standard error: JSON lines, or readable ones when it is a terminal. Lines are written together a few times
 * a second when many come, so that a request does not wait for its line. A full disk, a terminal that is gone, or who
 * reads slowly costs lines at most.
 * @param shared whether other processes log to the same place
 */
export async function openLog(level: string, shared: boolean): Promise<OpenLog> {
  const options = { level, base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime }
  const isTerminal = process.stderr.isTTY
  const sizes = shared ? AMONG_OTHERS : ALONE
  const destination = pino.destination({
    dest: 2,
    maxLength: MAX_WAITING_BYTES,
    ...(isTerminal ? { sync: true } : { sync: false, periodicFlush: 200, ...sizes }),
  })
  // Pino would stop for good when nobody reads, and end the process at every other error.
  destination.removeAllListeners('error').on('error', () => {
    // A process that exits would try for ever.
    destination.flushSync = () => {}
  })
  const log = pino(options, isTerminal ? await readable(destination) : destination)
  let dropped = 0
  destination.on('drop', () => {
    dropped += 1
  })
  destination.on('drain', () => {
    if (dropped === 0) return
    const lines = dropped
    dropped = 0
    log.warn({ lines }, 'lines could not be logged')
  })
  const closeLog = async () => {
    log.level = 'silent'
    const closed = once(destination, 'close')
    destination.end()
    // What can't be written now is given up.
    await closed.catch(() => {})
  }
  return { log, closeLog }
}

async function readable(destination: pino.DestinationStream): Promise<pino.DestinationStream> {
  const { default: pretty } = await import('pino-pretty')
  const prettify = pretty.prettyFactory({ ignore: 'pid', translateTime: 'HH:MM:ss' })
  return { write: line => destination.write(prettify(line)) }
}
