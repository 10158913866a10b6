/**
 * A source of one's own: says of each argument of a conversion where it stands in what is sent (a JSON pointer, RFC 6901), or
 * what it is. Pure.
 */
import { decimalsOf } from '../../base/currencies.ts'
import { isTaking, kinds } from '../conversions/conversion.ts'
import { isObject, number, text } from './reading.ts'
import { type Delivery, ignored, type Reported } from './report.ts'

/** Where each argument is found. `kinds` turns the sender's words for what happened into ours. */
export interface Mapping {
  readonly kinds?: Readonly<Record<string, string>>
  readonly [argument: string]: unknown
}

const amounts = ['amount', 'tax', 'shipping', 'discount'] as const
const plain = [
  'kind',
  'reference',
  'part',
  'cumulative',
  'currency',
  'visit_id',
  'coupon',
  'affiliate_id',
  'occurred_at',
] as const
const lists = ['references'] as const
const customer = ['id', 'email', 'first_name', 'last_name', 'country'].map(name => `customer.${name}`)
const clicks = ['click.first', 'click.last'] as const
const known: readonly string[] = [
  ...amounts,
  ...plain,
  ...lists,
  ...customer,
  ...clicks,
  'kinds',
  'minor_units',
]

/** What is wrong with a mapping that somebody sends. */
export function problemOfMapping(mapping: unknown): string | undefined {
  if (!isObject(mapping)) return 'must be an object of arguments and JSON pointers.'
  const stranger = Object.keys(mapping).find(name => !known.includes(name))
  if (stranger !== undefined)
    return `must name arguments of a conversion, not ${stranger}: ${known.join(', ')}.`
  const { kinds } = mapping
  if (kinds !== undefined && !isObject(kinds))
    return 'kinds must be an object: the words of the sender, and the kinds.'
  const isSayable = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value)
  const wrong = Object.entries(mapping).find(
    ([name, value]) => name !== 'kinds' && !isSayable(value) && !(isList(name) && isTexts(value)),
  )
  return wrong && `${wrong[0]} must be a JSON pointer, such as /order/total, or the value itself.`
}

const isList = (name: string) => (lists as readonly string[]).includes(name)
const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every(one => typeof one === 'string')

/** What a pointer leads to, or what is no pointer itself. */
function at(payload: unknown, pointer: unknown): unknown {
  if (typeof pointer !== 'string' || !pointer.startsWith('/')) return pointer
  let value = payload
  for (const step of pointer.slice(1).split('/')) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    if (Array.isArray(value)) value = value[Number(name)]
    else if (isObject(value) && Object.hasOwn(value, name)) value = value[name]
    else return undefined
  }
  return value ?? undefined
}

/** @param payload what was sent, whose signature was right */
export function readGeneric(payload: unknown, mapping: Mapping): Delivery {
  const found = (name: string) => at(payload, mapping[name])
  const word = found('kind')
  const said = text(word)
  const words = mapping.kinds
  const kind = words ? (Object.hasOwn(words, said) ? words[said] : undefined) : word
  if (kind === undefined || kind === '') return ignored(`Nothing is said about what ${said || 'it'} is.`)
  const currency = String(found('currency') ?? '').toUpperCase()
  const scale = mapping.minor_units === true ? 10 ** (decimalsOf(currency) ?? 2) : 1
  const report: Record<string, unknown> = { kind }
  const put = (name: string, value: unknown) => {
    if (value !== undefined && value !== '') report[name] = value
  }
  for (const name of plain) if (name !== 'kind') put(name, textual(name, found(name)))
  for (const name of amounts) put(name, amountOf(found(name), scale, kind))
  put('references', referencesOf(payload, mapping.references))
  put('customer', membersOf(customer, found))
  put('click', membersOf(clicks, found))
  return { conversions: [report as unknown as Reported] }
}

/** Numbers of orders are names as well. */
function textual(name: string, value: unknown): unknown {
  if (name === 'affiliate_id' || name === 'visit_id') return number(value) ?? value
  return typeof value === 'number' ? String(value) : value
}

const takings: ReadonlySet<unknown> = new Set(kinds.filter(isTaking))

/** In whole units of the currency. What was given back is often below zero; a sale that is earns nobody anything. */
function amountOf(value: unknown, scale: number, kind: unknown): unknown {
  const amount = number(value)
  if (amount === undefined) return value
  return (takings.has(kind) ? Math.abs(amount) : amount) / scale
}

function referencesOf(payload: unknown, pointers: unknown): unknown {
  if (pointers === undefined) return undefined
  const values = (isTexts(pointers) ? pointers : [pointers]).flatMap(one => at(payload, one) ?? [])
  return values.map(text).filter(value => value !== '')
}

function membersOf(names: readonly string[], found: (name: string) => unknown) {
  const members = names.flatMap(name => {
    const value = found(name)
    return value === undefined || value === ''
      ? []
      : [[name.slice(name.indexOf('.') + 1), textual(name, value)]]
  })
  return members.length === 0 ? undefined : Object.fromEntries(members)
}
