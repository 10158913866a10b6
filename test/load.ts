/** Clients that keep asking, each on a connection that it keeps, and count every answer. */
import { pbkdf2 } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import type { Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

export interface Answered {
  readonly status: number
  readonly body: string
  readonly durationMs: number
  readonly retryAfter: string | undefined
}

export interface Lost {
  readonly code: string | undefined
  /** Whether answers had come on the connection before: a process had taken it. */
  readonly taken: boolean
}

export interface Load {
  /** Every answer, in the order in which they came. */
  readonly answers: readonly Answered[]
  /** Requests that ended without an answer. */
  readonly lost: readonly Lost[]
  stop(): Promise<void>
}

export interface Ask {
  method: string
  url: string
  body?: object
}

/** After an answer: what is waited for meanwhile, such as the start of a process, needs the processor more. */
const BREATH_MS = 5
/** After a failure: so does what is about to come back, more than those who ask whether it has. */
const PAUSE_MS = 25

/** @param next what to ask next; the number counts all requests */
export function load(token: string, clients: number, next: (number: number) => Ask): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  const answers: Answered[] = []
  const lost: Lost[] = []
  let stopped = false
  let number = 0
  const client = async () => {
    while (!stopped) {
      number += 1
      try {
        const answer = await send(agent, token, next(number))
        answers.push(answer)
        await delay(answer.status < 500 ? BREATH_MS : PAUSE_MS)
      } catch (error) {
        lost.push(error as Lost)
        await delay(PAUSE_MS)
      }
    }
  }
  const running = Array.from({ length: clients }, client)
  return {
    answers,
    lost,
    stop: async () => {
      stopped = true
      await Promise.all(running)
      agent.destroy()
    },
  }
}

function send(agent: Agent, token: string, { method, url, body }: Ask): Promise<Answered> {
  const text = body === undefined ? undefined : JSON.stringify(body)
  const startedAt = performance.now()
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        agent,
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(text !== undefined && { 'content-type': 'application/json' }),
        },
      },
      response => {
        let received = ''
        response.setEncoding('utf8')
        response.on('data', chunk => {
          received += chunk
        })
        response.on('error', (error: NodeJS.ErrnoException) => reject({ code: error.code, taken: true }))
        response.on('end', () =>
          resolve({
            status: response.statusCode!,
            body: received,
            durationMs: performance.now() - startedAt,
            retryAfter: response.headers['retry-after'],
          }),
        )
      },
    )
    sent.on('error', (error: NodeJS.ErrnoException) => reject({ code: error.code, taken: sent.reusedSocket }))
    sent.end(text)
  })
}

/** How often each status came. */
export function tally(answers: readonly Answered[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

/** So long that only what never happens takes longer, also on a busy machine. */
const PATIENCE_MS = 120_000

/**
 * Resolves once `met` holds.
 * @param timeoutMs where how long it takes is what is tested
 */
export async function until(met: () => boolean | Promise<boolean>, timeoutMs = PATIENCE_MS): Promise<void> {
  const giveUpAt = Date.now() + timeoutMs
  while (!(await met())) {
    if (Date.now() > giveUpAt) throw new Error(`This did not happen within ${timeoutMs} ms: ${met}`)
    await delay(20)
  }
}

const THREADS = 4
/** Takes a thread for some tenths of a second. */
const ROUNDS = 2_000_000

/** Keeps all threads that could flush a file: what a disk is that is slow. @returns when it is as fast again */
export async function slowDisk(): Promise<void> {
  const derive = promisify(pbkdf2)
  await Promise.all(Array.from({ length: THREADS }, () => derive('', '', ROUNDS, 32, 'sha256')))
}

/** @returns the sockets that the services of this process have accepted, by the port of the client */
export function acceptedSockets(t: TestContext): ReadonlyMap<number | undefined, Socket> {
  const accepted = new Map<number | undefined, Socket>()
  const accept = (message: unknown) => {
    // Cast: what Node publishes there.
    const { socket } = message as { socket: Socket }
    accepted.set(socket.remotePort, socket)
  }
  subscribe('net.server.socket', accept)
  t.after(() => unsubscribe('net.server.socket', accept))
  return accepted
}

/** Memory of a process. */
export const residentMib = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
