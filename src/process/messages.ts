/** IPC messages by which a worker asks the primary for a part of a rate limit. */
import type { Worker } from 'node:cluster'
import { Allotment, type Grant, type Grantor, grantAll } from '../http/limits/allowances.ts'

interface Question {
  readonly allowance: { readonly number: number; readonly name: string; readonly limit: number }
}

interface Reply {
  readonly granted: { readonly number: number; readonly grant: Grant }
}

/** For a worker. */
export function askPrimary(): Grantor {
  const pending = new Map<number, (grant: Grant) => void>()
  let last = 0
  process.on('message', (message: Partial<Reply>) => {
    if (!message.granted) return
    const { number, grant } = message.granted
    pending.get(number)?.(grant)
    pending.delete(number)
  })
  return (name, limit) => {
    // A worker without its primary is about to end.
    if (!process.connected) return grantAll(name, limit)
    last += 1
    const number = last
    return new Promise(resolve => {
      pending.set(number, resolve)
      process.send!({ allowance: { number, name, limit } } satisfies Question)
    })
  }
}

/** For the primary. @returns the function that prepares each new worker */
export function answerWorkers(): (worker: Worker) => void {
  const allotment = new Allotment()
  return worker => {
    worker.on('message', (message: Partial<Question>) => {
      if (!message.allowance) return
      const { number, name, limit } = message.allowance
      worker.send({ granted: { number, grant: allotment.grant(name, limit) } } satisfies Reply)
    })
  }
}
