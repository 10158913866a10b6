/**
 * Generic sources: a mapping says where each argument of a conversion is in the payload (a JSON pointer, RFC 6901), or
 * gives its value. Pure.
 */
import { decimalsOf } from '../../base/currencies.ts'
import { isObject } from '../../base/unknown.ts'
import { isReversal, kinds } from '../conversions/conversion.ts'
import type { CreateArguments } from '../conversions/schema.ts'
import { reportRounded } from './decimals.ts'
import { amountOf, named, number, text } from './reading.ts'
import { type Delivery, ignored, type Unchecked } from './report.ts'
import type { Reports, Sender, Setup } from './sender.ts'
import { headerOf, isSame, macOf, type Signed } from './signatures.ts'

/** The currency of a report whose payload says none; minor units are of one all the same. */
const UNSAID = ''

/** Where each argument is found. `kinds` maps the sender's words to kinds of conversion. */
interface Mapping {
  readonly kinds?: Readonly<Record<string, string>>
  readonly [argument: string]: unknown
}

/** How a mapping gives each argument of a conversion; `not` where it cannot. */
const given = {
  amount: 'as amount',
  tax: 'as amount',
  shipping: 'as amount',
  discount: 'as amount',
  kind: 'as value',
  reference: 'as value',
  part: 'as value',
  cumulative: 'as value',
  currency: 'as value',
  visit_id: 'as value',
  coupon: 'as value',
  affiliate_id: 'as value',
  occurred_at: 'as value',
  references: 'as list',
  customer: 'by members',
  click: 'by members',
  // The source has one.
  context: 'not',
  // It is customer.country.
  country: 'not',
  lines: 'not',
  metadata: 'not',
} as const satisfies Record<keyof CreateArguments, string>

const argumentsGiven = (how: (typeof given)[keyof typeof given]): readonly string[] =>
  Object.entries(given).flatMap(([name, own]) => (own === how ? [name] : []))

const amounts = argumentsGiven('as amount')
const plain = argumentsGiven('as value')
const lists = argumentsGiven('as list')
const customer = ['id', 'email', 'first_name', 'last_name', 'country'].map(name => `customer.${name}`)
const clicks = ['click.first', 'click.last'] as const
const allowedNames: readonly string[] = [
  ...amounts,
  ...plain,
  ...lists,
  ...customer,
  ...clicks,
  'kinds',
  'minor_units',
]

/** What is wrong with a mapping. */
export function problemOfMapping(mapping: unknown): string | undefined {
  if (!isObject(mapping)) return 'must be an object of arguments and JSON pointers.'
  const stranger = Object.keys(mapping).find(name => !allowedNames.includes(name))
  if (stranger !== undefined)
    return `must name arguments of a conversion, not ${stranger}: ${allowedNames.join(', ')}.`
  const { kind, kinds: words, minor_units } = mapping
  if (minor_units !== undefined && typeof minor_units !== 'boolean')
    return 'minor_units must be true or false.'
  if (words !== undefined && !isObject(words))
    return 'kinds must be an object: the words of the sender, and the kinds.'
  // An empty one says that the word means nothing here.
  const meant = words ? Object.values(words).filter(one => one !== '') : [kind].filter(isValue)
  const unknown = meant.find(one => !knownKinds.has(one))
  if (unknown !== undefined)
    return `must lead to kinds of conversion, not ${JSON.stringify(unknown)}: ${kinds.join(', ')}.`
  const isSayable = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value)
  const wrong = Object.entries(mapping).find(
    ([name, value]) => name !== 'kinds' && !isSayable(value) && !(isList(name) && isTexts(value)),
  )
  return wrong && `${wrong[0]} must be a JSON pointer, such as /order/total, or the value itself.`
}

const knownKinds: ReadonlySet<unknown> = new Set(kinds)

const isPointer = (value: unknown): value is string => typeof value === 'string' && value.startsWith('/')
const isValue = (value: unknown) => value !== undefined && !isPointer(value)
const isList = (name: string) => lists.includes(name)
const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every(item => typeof item === 'string')

const INDEX = /^(?:0|[1-9]\d*)$/

/** The value that a pointer leads to, or the value itself where it is no pointer. */
function at(payload: unknown, pointer: unknown): unknown {
  if (!isPointer(pointer)) return pointer
  let value = payload
  for (const step of pointer.slice(1).split('/')) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    if (Array.isArray(value)) value = INDEX.test(name) ? value[Number(name)] : undefined
    else if (isObject(value) && Object.hasOwn(value, name)) value = value[name]
    else return undefined
  }
  return value ?? undefined
}

export const generic: Sender = { isSigned, read }

function isSigned({ headers, body }: Signed, { secret, signature_header }: Setup): boolean {
  const signature = headerOf(headers, signature_header).replace(/^sha256=/i, '')
  const mac = macOf(secret, body)
  return isSame(mac, Buffer.from(signature, /^[\da-f]{64}$/i.test(signature) ? 'hex' : 'base64'))
}

async function read(payload: unknown, setup: Setup, reports: Reports): Promise<Delivery> {
  const mapping: Mapping = JSON.parse(setup.mapping)
  const delivery = readBy(mapping, payload)
  const [first] = delivery.conversions
  if (!first || (first.currency ?? UNSAID) !== UNSAID) return delivery
  const kind = kinds.find(one => one === first.kind) ?? 'sale'
  const sent = { kind, part: text(first.part), reference: text(first.reference) }
  return readBy(mapping, payload, await reports.currencyUnsaid(sent))
}

/**
 * @param unsaidCurrency that of amounts of which the payload says no currency; a report of minor units says so while it is
 *   not known
 */
function readBy(mapping: Mapping, payload: unknown, unsaidCurrency = UNSAID): Delivery {
  const valueAt = (name: string) => at(payload, mapping[name])
  const word = valueAt('kind')
  const senderKind = text(word)
  const words = mapping.kinds
  const kind = words ? (Object.hasOwn(words, senderKind) ? words[senderKind] : undefined) : word
  if (kind === undefined || kind === '')
    return ignored(`Nothing is said about what ${senderKind || 'it'} is.`)
  const isMinor = mapping.minor_units === true
  const currency = currencyIn(valueAt('currency')) || unsaidCurrency
  const scale = isMinor ? 10 ** (decimalsOf(currency.toUpperCase()) ?? 2) : 1
  const report: Unchecked = { kind }
  const setArgument = (name: string, value: unknown) => {
    if (value !== undefined && value !== '') report[name] = value
  }
  for (const name of plain) if (name !== 'kind') setArgument(name, textual(name, valueAt(name)))
  // Refunds are often sent as negative numbers; a sale below zero earns nothing.
  const inUnits = (amount: number) => (reversals.has(kind) ? Math.abs(amount) : amount) / scale
  for (const name of amounts) setArgument(name, amountOf(valueAt(name), inUnits))
  // It was decided by this currency what the numbers are worth.
  if (isMinor) report.currency = currency
  setArgument('references', referencesOf(payload, mapping.references))
  setArgument('customer', membersOf(customer, valueAt))
  setArgument('click', membersOf(clicks, valueAt))
  // A fraction of a minor unit says that the mapping is wrong, and is refused.
  const conversion = isMinor ? report : reportRounded(report, currency)
  return { event: senderKind, conversions: [conversion] }
}

/** As text, also where it is none that could be of a currency, so that it is refused. */
const currencyIn = (value: unknown): string =>
  value === undefined || value === '' ? '' : text(value) || JSON.stringify(value)

/** Numbers of orders count as names as well. */
function textual(name: string, value: unknown): unknown {
  if (name === 'affiliate_id' || name === 'visit_id')
    return number(value) === undefined ? value : named(value)
  return text(value) || value
}

const reversals: ReadonlySet<unknown> = new Set(kinds.filter(isReversal))

function referencesOf(payload: unknown, pointers: unknown): unknown {
  if (pointers === undefined) return undefined
  const values = (isTexts(pointers) ? pointers : [pointers]).flatMap(item => at(payload, item) ?? [])
  return values.map(text).filter(value => value !== '')
}

function membersOf(names: readonly string[], valueAt: (name: string) => unknown) {
  const members = names.flatMap(name => {
    const value = valueAt(name)
    return value === undefined || value === ''
      ? []
      : [[name.slice(name.indexOf('.') + 1), textual(name, value)]]
  })
  return members.length === 0 ? undefined : Object.fromEntries(members)
}
