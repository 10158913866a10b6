import { once } from 'node:events'
import { type Logger, pino } from 'pino'

const ALONE = { minLength: 8192, maxWrite: 16_384 }
/**
 * Processes that write to one pipe tear each other's lines apart, unless a write is at most PIPE_BUF long (4096 on
 * Linux): lines are put together up to `maxWrite` bytes. Only a line that is longer by itself may still be torn.
 */
const AMONG_OTHERS = { minLength: 2048, maxWrite: 4096 }
/** Lines wait in memory while they can't be written. Those beyond are dropped, which is logged. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024

/** An error as it is logged: PostgreSQL tells the values of the row that it refuses, which may be anybody's. */
function withoutValues(error: Error): object {
  const { detail, where, internalQuery, ...safe } = pino.stdSerializers.err(error) ?? {}
  return safe
}

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
    const closing = once(destination, 'close')
    destination.end()
    // What can't be written now is given up.
    await closing.catch(() => {})
  }
  return { log, closeLog }
}

async function readable(destination: pino.DestinationStream): Promise<pino.DestinationStream> {
  const { default: pretty } = await import('pino-pretty')
  const prettify = pretty.prettyFactory({ ignore: 'pid', translateTime: 'HH:MM:ss' })
  return { write: line => destination.write(prettify(line)) }
}
