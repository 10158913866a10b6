/** The log of a process: JSON lines on standard error. */
import { once } from 'node:events'
import { type Logger, pino } from 'pino'

type Destination = ReturnType<typeof pino.destination>

const ALONE = { minLength: 8192, maxWrite: 16_384 }
/**
 * Concurrent writes to one pipe are only atomic up to PIPE_BUF (4096 bytes on Linux): lines are batched up to
 * `maxWrite` bytes. Only a line longer than that may still be torn.
 */
const AMONG_OTHERS = { minLength: 2048, maxWrite: 4096 }
/** As a line may be written in two parts beyond that. */
const MOST_TOGETHER = AMONG_OTHERS.minLength
/** Buffer for lines that cannot be written. Beyond it they are dropped, which is logged. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024

/**
 * Error for the log, without row values: PostgreSQL puts the values of a refused row into its errors, and they may be
 * personal data. pino adds the messages of causes, but one that says its cause's itself is enough.
 */
function withoutValues(error: Error): object {
  const { detail, where, internalQuery, ...safe } = pino.stdSerializers.err(error) ?? {}
  const { message, cause } = error
  return cause instanceof Error && message.includes(cause.message) ? { ...safe, message } : safe
}

interface OpenLog {
  readonly log: Logger
  /** Flushes buffered lines, which `process.exit` would lose. Nothing is logged afterwards. */
  closeLog(): Promise<void>
}

/**
 * Logs to standard error: JSON lines, or readable text on a terminal. Lines are batched a few times a second under load,
 * so that requests do not wait for their line. A full disk, a closed terminal or a slow reader costs lines at most.
 * @param shared whether other processes log to the same place
 */
export async function openLog(level: string, shared: boolean): Promise<OpenLog> {
  const options = {
    level,
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: withoutValues },
  }
  const isTerminal = process.stderr.isTTY
  const sizes = shared ? AMONG_OTHERS : ALONE
  const destination = pino.destination({
    dest: 2,
    maxLength: MAX_WAITING_BYTES,
    ...(isTerminal ? { sync: true } : { sync: false, periodicFlush: 200, ...sizes }),
  })
  // pino would stop for good when nobody reads, and end the process on any other error.
  destination.removeAllListeners('error').on('error', () => {
    // On exit, pino would retry for ever.
    destination.flushSync = () => {}
  })
  const lines = new Lines(destination, dropped => {
    log.warn({ lines: dropped }, 'lines could not be logged')
  })
  const log = pino(options, isTerminal ? await readable(lines) : lines)
  const closeLog = async () => {
    log.level = 'silent'
    lines.pass()
    const closing = once(destination, 'close')
    destination.end()
    // What cannot be written by now is dropped.
    await closing.catch(() => {})
  }
  return { log, closeLog }
}

/** Passes lines on together: the destination measures all that it holds whenever it is given something. */
class Lines implements pino.DestinationStream {
  readonly #destination: Destination
  #waiting = ''
  /** Lines that the destination has not taken. It is given none behind them until it is empty: the log has one gap. */
  #dropped = 0

  /** @param tell hears how many lines were dropped, once the destination takes some again */
  constructor(destination: Destination, tell: (dropped: number) => void) {
    this.#destination = destination
    destination.on('drop', (text: string) => {
      this.#dropped += countIn(text)
    })
    destination.on('drain', () => {
      const dropped = this.#dropped
      this.#dropped = 0
      if (dropped > 0) tell(dropped)
    })
    // Before the destination writes what it holds.
    process.prependListener('exit', this.pass)
  }

  write(line: string): void {
    if (this.#waiting.length + line.length > MOST_TOGETHER) this.pass()
    if (this.#waiting === '') setImmediate(this.pass)
    this.#waiting += line
  }

  readonly pass = (): void => {
    const text = this.#waiting
    if (text === '') return
    this.#waiting = ''
    if (this.#dropped === 0) this.#destination.write(text)
    else this.#dropped += countIn(text)
  }
}

const countIn = (text: string) => text.split('\n').length - 1

async function readable(destination: pino.DestinationStream): Promise<pino.DestinationStream> {
  const { default: pretty } = await import('pino-pretty')
  const prettify = pretty.prettyFactory({ ignore: 'pid', translateTime: 'HH:MM:ss' })
  return { write: line => destination.write(prettify(line)) }
}
