/**
 * The statements of a sale as the service runs them on PostgreSQL, for `pg` alone to run in one transaction. Two sales are
 * recorded, and what differs between them is what each run has to make anew.
 */

import { create } from '../src/programme/conversions/rules.ts'
import { Session } from '../src/storage/postgres/session.ts'
import type { Statement } from '../src/storage/postgres/trip.ts'
import { openDatabase, operatorOf } from '../test/harness.ts'
import type { FloorStep, FloorValue } from './floor.ts'

type Value = string | null

interface Recorded {
  readonly text: string
  readonly values: readonly Value[]
  /** As text. */
  rows: readonly (readonly Value[])[]
}

/** Until the service has read whatever it keeps, and its statements have names. */
const WARM_UP = 3

/** The names of the requests whose statements are recorded. */
export const recorded = ['report sale']

/** @param body of the request; {number} stands for what no other sale has */
export async function stepsOf(url: string, body: string): Promise<FloorStep[]> {
  const database = await openDatabase(url)
  try {
    const number = Date.now()
    const report = (offset: number) =>
      create(operatorOf(database), JSON.parse(body.replaceAll('{number}', String(number + offset))))
    for (let offset = -WARM_UP; offset < 0; offset += 1) await report(offset)
    const [one, other] = [await record(() => report(0)), await record(() => report(1))]
    if (one.map(({ text }) => text).join() !== other.map(({ text }) => text).join()) {
      throw new Error('Two sales after each other run different statements.')
    }
    const valueAt = valuesOf(one, other, [String(number), String(number + 1)])
    return one.map(({ text, values }, step) => ({
      text,
      values: values.map((_, place) => valueAt(step, place)),
    }))
  } finally {
    await database.close()
  }
}

/** The statements from BEGIN to COMMIT, without these two. */
async function record(work: () => Promise<unknown>): Promise<Recorded[]> {
  const all: Recorded[] = []
  const { send, sendLater } = Session.prototype
  const recording = (original: typeof send) =>
    function (this: Session, statement: Statement): void {
      const { text, values, resolve } = statement
      const one: Recorded = { text, values, rows: [] }
      all.push(one)
      const remember: Statement['resolve'] = result => {
        one.rows = result.rows.map(row => Object.values(row).map(textOf))
        resolve(result)
      }
      original.call(this, { ...statement, resolve: remember })
    }
  Session.prototype.send = recording(send)
  Session.prototype.sendLater = recording(sendLater)
  try {
    await work()
  } finally {
    Object.assign(Session.prototype, { send, sendLater })
  }
  const at = (text: string) => all.findIndex(one => one.text === text)
  return all.slice(at('BEGIN') + 1, at('COMMIT'))
}

const textOf = (value: unknown): Value => (value === null || value === undefined ? null : String(value))

/** @param numbers what the two sales were told apart by */
function valuesOf(one: readonly Recorded[], other: readonly Recorded[], numbers: readonly [string, string]) {
  const tokens: string[] = []
  return (step: number, place: number): FloorValue => {
    const [mine, its] = [one[step]!.values[place]!, other[step]!.values[place]!]
    if (mine === its || mine === null || its === null) return { fixed: mine }
    if (mine.replaceAll(...numbers) === its) return { numbered: mine.split(numbers[0]) }
    const result = resultWith(one.slice(0, step), other, mine, its)
    if (result) return result
    // A moment, or text that names what this run has other names for: nothing looks for it.
    if (/^\d+$/.test(mine) || /^[[{]/.test(mine)) return { fixed: mine }
    const token = `${mine} ${its}`
    if (!tokens.includes(token)) tokens.push(token)
    return { token: tokens.indexOf(token), length: mine.length }
  }
}

/** An identifier, say, that an earlier statement has returned. */
function resultWith(
  earlier: readonly Recorded[],
  other: readonly Recorded[],
  mine: string,
  its: string,
): FloorValue | undefined {
  for (const [step, { rows }] of earlier.entries()) {
    for (const [row, cells] of rows.entries()) {
      const column = cells.findIndex(
        (cell, place) => cell === mine && other[step]!.rows[row]?.[place] === its,
      )
      if (column >= 0) return { step, row, column }
    }
  }
  return undefined
}
