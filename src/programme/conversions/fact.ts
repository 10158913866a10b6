/** Parses a report: problems by argument, and amounts in their own currency. Pure. */
import { decimalsOf, NO_CURRENCY } from '../../base/currencies.ts'
import { missingArguments, type Problems, refuseInvalid } from '../../base/errors.ts'
import { problemOfJson } from '../../base/json.ts'
import { decimalsReason, decimalText, toUnits } from '../../base/money.ts'
import type { Settings } from '../../base/settings.ts'
import { foldCase } from '../../base/text.ts'
import { DAY_SECONDS, now, parseMoment } from '../../base/time.ts'
import { isObject } from '../../base/unknown.ts'
import type { ConversionKind, SentLine } from './conversion.ts'
import { isPartOfTotal, partOfTotal } from './left.ts'
import type { CreateArguments } from './schema.ts'

const MAX_JSON = 65_535
/** Tests of subscriptions report future times; anything later is a mistake. */
const MOST_SECONDS_AHEAD = 10 * 366 * DAY_SECONDS
/** No web shop existed before; an earlier time comes from a missing date. */
const EARLIEST_YEAR = 1990
const EARLIEST = Date.UTC(EARLIEST_YEAR, 0) / 1000

const needsAmount: readonly ConversionKind[] = ['sale', 'renewal', 'refund', 'dispute']
const needsPart: readonly ConversionKind[] = ['refund', 'dispute', 'dispute_won']
const OR_CUMULATIVE = 'or cumulative: it tells one refund or dispute of a payment from the next.'
const amounts = ['amount', 'tax', 'shipping', 'discount'] as const

/** A report, with amounts in the minor unit of `currency`. */
export interface Fact {
  readonly kind: ConversionKind
  readonly context: string
  readonly reference: string
  readonly references: readonly string[]
  readonly part: string
  readonly cumulative: boolean
  readonly amount: number
  readonly tax: number
  readonly shipping: number
  readonly discount: number
  readonly currency: string
  /** 1 if it is not the sender who has named it. */
  readonly currency_assumed: 0 | 1
  readonly lines: readonly SentLine[]
  readonly occurredAt: number
}

const currencyOf = ({ currency }: Pick<CreateArguments, 'currency'>, settings: Settings): string =>
  currency ? currency.toUpperCase() : settings.currency

/** Validation beyond the schemas. Missing arguments are reported only if they are required. */
export function problemsOf(args: Partial<CreateArguments>, settings: Settings): Problems {
  const { kind, reference, part, cumulative, metadata } = args
  const problems: Problems = { ...problemsOfAmounts(args, settings) }
  if (reference?.trim() === '') problems.reference = 'must not be empty.'
  if (args.references?.some(name => name.trim() === ''))
    problems.references = 'must be names that are not empty.'
  if (kind !== undefined) Object.assign(problems, missingOf(kind, args))
  if (cumulative && kind !== undefined && !needsPart.includes(kind)) {
    problems.cumulative = 'must be left out: only refunds and disputes are cumulative.'
  }
  if (part && kind !== undefined && !needsPart.includes(kind)) {
    problems.part = 'must be left out: only refunds and disputes have parts.'
  }
  if (part && !cumulative && isPartOfTotal(part.trim())) {
    problems.part = 'must have another name: total: and an amount stand for a refund that is cumulative.'
  }
  if (!isCountry(args.customer?.country)) problems.customer = 'country must be two letters, ISO 3166-1.'
  if (!isCountry(args.country)) problems.country = 'must be two letters, ISO 3166-1.'
  const untimely = problemOfMoment(args.occurred_at)
  if (untimely !== undefined) problems.occurred_at = untimely
  const unkept = metadata === undefined ? undefined : problemOfMetadata(metadata)
  if (unkept !== undefined) problems.metadata = unkept
  return problems
}

/** Valid if empty. */
export const isCountry = (text = '') => text === '' || /^[a-z]{2}$/i.test(text)

function problemOfMoment(sent: string | undefined): string | undefined {
  const at = sent === undefined ? undefined : parseMoment(sent)?.first
  if (at === undefined) return undefined
  if (at > now() + MOST_SECONDS_AHEAD) return 'must not lie more than ten years ahead.'
  return at < EARLIEST
    ? `must not lie before ${EARLIEST_YEAR}; leave it out when it is not known.`
    : undefined
}

/** @throws Failure missing_argument where nothing else is wrong, invalid_argument */
export function refuseWrong(args: CreateArguments, settings: Settings): void {
  const problems = problemsOf(args, settings)
  const missing = missingOf(args.kind, args)
  const names = Object.keys(missing)
  const isAll = Object.keys(problems).every(name => Object.hasOwn(missing, name))
  if (names.length > 0 && isAll) throw missingArguments(names, missing.part && `Send part, ${OR_CUMULATIVE}`)
  refuseInvalid(problems)
}

const partIn = ({ part = '' }: Partial<CreateArguments>): string => part.trim()

/** What a kind of conversion cannot be without. */
function missingOf(kind: ConversionKind, args: Partial<CreateArguments>): Problems {
  const problems: Problems = {}
  if (needsAmount.includes(kind) && args.amount === undefined) problems.amount = 'must be sent.'
  if (needsPart.includes(kind) && !partIn(args) && !args.cumulative) {
    problems.part = `must be sent, ${OR_CUMULATIVE}`
  }
  if (kind === 'attribution' && args.affiliate_id === undefined) problems.affiliate_id = 'must be sent.'
  return problems
}

function problemsOfAmounts(args: Partial<CreateArguments>, settings: Settings): Problems {
  const problems: Problems = {}
  const currency = currencyOf(args, settings)
  const decimals = decimalsOf(currency)
  if (decimals === undefined) {
    return { currency: NO_CURRENCY }
  }
  const isExact = (value: number | undefined) => value === undefined || toUnits(value, decimals) !== undefined
  for (const name of amounts)
    if (!isExact(args[name])) problems[name] = decimalsReason({ currency, decimals })
  if (args.lines?.some(({ amount }) => !isExact(amount)))
    problems.lines = `amount ${decimalsReason({ currency, decimals })}`
  return Object.keys(problems).length > 0 ? problems : problemsOfShares(args, decimals)
}

/** The discount is not a part: the amount is already net of it. */
function problemsOfShares({ amount, tax, shipping }: Partial<CreateArguments>, decimals: number): Problems {
  if (amount === undefined) return {}
  const units = (value = 0) => toUnits(value, decimals)!
  if (units(tax) + units(shipping) <= units(amount)) return {}
  const reason = 'must be part of the amount: tax and shipping together cannot be more than was paid.'
  return { ...(units(tax) > 0 && { tax: reason }), ...(units(shipping) > 0 && { shipping: reason }) }
}

const problemOfMetadata = (value: unknown) =>
  isObject(value) ? problemOfJson(value, MAX_JSON) : 'must be an object.'

/** @param args without problems */
export function factOf(args: CreateArguments, settings: Settings, isCurrencyAssumed: boolean): Fact {
  const currency = currencyOf(args, settings)
  const decimals = decimalsOf(currency)!
  const units = (value = 0) => toUnits(value, decimals)!
  const { kind, lines = [], cumulative = false } = args
  const { context, names } = namesOf(args)
  const [reference, ...references] = names
  const amount = units(args.amount)
  const part = partIn(args)
  const isTotal = cumulative && (kind === 'refund' || part === '')
  return {
    kind,
    context,
    reference: reference!,
    references: [...new Set(references)].filter(name => name !== reference),
    part: isTotal ? partOfTotal(part, decimalText(amount, decimals)) : part,
    cumulative,
    amount,
    tax: units(args.tax),
    shipping: units(args.shipping),
    discount: units(args.discount),
    currency,
    currency_assumed: isCurrencyAssumed ? 1 : 0,
    lines,
    occurredAt: args.occurred_at === undefined ? now() : parseMoment(args.occurred_at)!.first,
  }
}

/** All names of the payment, with the shop. Blanks around them are nobody's intention, and would make another payment. */
export const namesOf = ({
  context = '',
  reference,
  references = [],
}: Pick<CreateArguments, 'context' | 'reference' | 'references'>) => ({
  context: foldCase(context.trim()),
  names: [reference, ...references].map(name => name.trim()),
})
