/**
 * Loaded by a server before its program, with `--import`: lets its clock stand at the time that a file holds, so that
 * two servers answer at the same moment. Only `Date` is replaced; timers and `performance` run on.
 */
import { openSync, readSync } from 'node:fs'

const file = openSync(process.env.CONVERSATION_CLOCK!, 'r')
const time = new Float64Array(1)

function now(): number {
  readSync(file, time, 0, time.byteLength, 0)
  return time[0]!
}

globalThis.Date = new Proxy(Date, {
  construct: (target, args: [], newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  get: (target, name, receiver) => (name === 'now' ? now : Reflect.get(target, name, receiver)),
})
