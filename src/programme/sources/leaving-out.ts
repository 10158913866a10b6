/**
 * Reads the arguments of a conversion in a delivery. A sale counts for more than what is said of its buyer, and of where
 * it came from: what is invalid of that is left out. Pure.
 */
import { Failure, refuseInvalid } from '../../base/errors.ts'
import { isObject } from '../../base/unknown.ts'
import { isCountry } from '../conversions/fact.ts'
import type { CreateArguments } from '../conversions/schema.ts'

export type Sent = Readonly<Record<string, unknown>>

/** What may be sent as a conversion. @throws Failure invalid_argument, missing_argument */
export type ArgumentsOf = (sent: object) => CreateArguments

/** What may be left out; of an object each member by itself. */
const optional = ['customer', 'affiliate_id', 'coupon', 'click', 'visit_id']

interface Read {
  readonly args: CreateArguments
  /** Such as customer.email. */
  readonly leftOut: readonly string[]
}

/** @throws Failure invalid_argument, missing_argument */
export function read(sent: Sent, argumentsOf: ArgumentsOf): Read {
  const check = (some: object) => {
    const args = argumentsOf(some)
    if (!isCountry(args.customer?.country)) refuseInvalid({ customer: 'country must be two letters.' })
    return args
  }
  try {
    return { args: check(sent), leftOut: [] }
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure
    const isTaken = (some: Sent) => isValid(() => check({ kind: 'sale', reference: 'any', ...some }))
    const rest: Record<string, unknown> = { ...sent }
    const leftOut = optional.flatMap(name => leaveOut(rest, name, isTaken))
    return { args: check(rest), leftOut }
  }
}

/** What the owner of the shop should know of it. */
export function problemOf(leftOut: readonly string[]): string {
  const { customer = [], origin = [] } = Object.groupBy(leftOut, name =>
    name.startsWith('customer.') ? 'customer' : 'origin',
  )
  const subjects = [
    ...(customer.length > 0 ? [`of the customer: ${customer.join(', ').replaceAll('customer.', '')}`] : []),
    ...(origin.length > 0 ? [`of its origin: ${origin.join(', ')}`] : []),
  ]
  return `recorded without what is invalid ${subjects.join('; ')}.`
}

/** @returns the names of what was invalid: of the argument, or of its members */
function leaveOut(sent: Record<string, unknown>, name: string, isTaken: (some: Sent) => boolean): string[] {
  const value = sent[name]
  if (value === undefined || isTaken({ [name]: value })) return []
  if (!isObject(value)) {
    delete sent[name]
    return [name]
  }
  const members = Object.entries(value)
  const taken = members.filter(([member, of]) => isTaken({ [name]: { [member]: of } }))
  sent[name] = Object.fromEntries(taken)
  return members.filter(one => !taken.includes(one)).map(([member]) => `${name}.${member}`)
}

function isValid(check: () => unknown): boolean {
  try {
    check()
    return true
  } catch {
    return false
  }
}
