/**
 * Reads the answer of a bank to a SEPA file: pain.002 of ISO 20022, of any version. Only final statuses count: a payment
 * that was accepted (ACTC, ACCP, ACSP, …) is not yet paid.
 */

import { byName } from '../../../base/by-name.ts'
import type { Outcome } from '../outcome.ts'
import { exactAmountIn } from './amount.ts'
import { unreadable } from './csv.ts'
import { type Answered, bothReason, type Entry, noteOf } from './entry.ts'
import { attributeOf, readXml } from './xml.ts'

const final: Readonly<Record<string, Outcome>> = {
  ACSC: 'paid',
  ACCC: 'paid',
  RJCT: 'failed',
  CANC: 'failed',
}
/** What the bank says of names and accounts before it pays (verification of payee). */
const verified = ['RCVC', 'RVCM', 'RVMC', 'RVNM', 'RVNA', 'RVNC']
/** Of ISO 20022 (ExternalPaymentTransactionStatus1Code), but for those of cheques, cash and requests for payment. */
const open = [
  ...['ACTC', 'ACCP', 'ACSP', 'ACWC', 'ACWP', 'ACFC', 'ACFW', 'ACPD'],
  ...['BLCK', 'PDNG', 'RCVD', 'PATC', 'PART'],
  ...verified,
]

function outcomeOf(status: string): Outcome | undefined {
  if (open.includes(status)) return undefined
  const outcome = Object.hasOwn(final, status) ? final[status] : undefined
  if (outcome === undefined)
    throw unreadable(`has the status ${noteOf(status).slice(0, 20)}, which is not known.`)
  return outcome
}

/** The elements of one payment, or of the file as a whole, while they are read. */
type Elements = Record<string, string>

const MESSAGE = 'OrgnlMsgId'

/** What a status is said of, and where that names itself. */
const levels: Readonly<Record<string, { references: readonly string[]; status: string }>> = {
  // Our files name a payment the same in both.
  TxInfAndSts: { references: ['OrgnlEndToEndId', 'OrgnlInstrId'], status: 'TxSts' },
  // Our files have one group of payments, named as the file is.
  OrgnlPmtInfAndSts: { references: ['OrgnlPmtInfId'], status: 'PmtInfSts' },
  OrgnlGrpInfAndSts: { references: [MESSAGE], status: 'GrpSts' },
}
const MOST_JOINED = 1000
const AMOUNT = 'InstdAmt'
/** The attribute of an amount. */
const CURRENCY = 'Ccy'
const READ = [
  ...Object.values(levels).flatMap(({ references, status }) => [...references, status]),
  'Cd',
  'Prtry',
  'AddtlInf',
  AMOUNT,
]

/** @throws Failure invalid_argument */
export function* readPain002(content: string): Generator<Entry | Answered | undefined> {
  const read: Record<string, Elements> = byName(Object.keys(levels), () => ({}))
  let isReport = false
  const whole = new Whole()
  for (const element of readXml(content)) {
    if (!element) {
      yield undefined
      continue
    }
    const { name, text, path, attributes } = element
    isReport ||= name === 'CstmrPmtStsRpt'
    const within = path.findLast(one => Object.hasOwn(levels, one))
    const elements = within === undefined ? {} : read[within]!
    if (text !== undefined && READ.includes(name)) elements[name] = joined(elements[name], text)
    if (name === AMOUNT) elements[CURRENCY] = joined(elements[CURRENCY], attributeOf(attributes, CURRENCY))
    yield said(element, elements, within, whole)
    if (name === within) read[name] = {}
  }
  if (!isReport) throw unreadable('must be a pain.002: it has no CstmrPmtStsRpt.')
}

/** What the end of an element says. */
function said(
  { name, text = '' }: { readonly name: string; readonly text?: string | undefined },
  elements: Elements,
  within: string | undefined,
  whole: Whole,
): Entry | Answered | undefined {
  if (name === MESSAGE) return { file: text.trim() }
  return name === within ? entryOf(elements, name, whole) : undefined
}

/** No longer than what is read of it. */
const joined = (before: string | undefined, text: string) =>
  (before ? `${before} ${text}` : text).slice(0, MOST_JOINED)

/** What holds for all payments is an outcome only where all were rejected; else each speaks for itself. */
function entryOf(elements: Elements, name: string, whole: Whole): Entry | undefined {
  const level = levels[name]!
  const status = elements[level.status] ?? ''
  const isOne = name === 'TxInfAndSts'
  if (!isOne && status === '') return undefined
  const outcome = isOne || status === 'RJCT' ? outcomeOf(status) : undefined
  const note = noteOf([elements.Cd, elements.Prtry, elements.AddtlInf].filter(Boolean).join(' '))
  return {
    reference: level.references.map(name => elements[name]).find(Boolean) ?? '',
    outcome,
    note,
    ...exactAmountIn(elements[AMOUNT] ?? '', elements[CURRENCY] ?? ''),
    ...(!isOne && whole.add(status)),
  }
}

/** The statuses that the file has as a whole, one after another. */
class Whole {
  #final: string | undefined

  /** @returns whether they can all be true: after a rejection comes no other status, and after settlement no rejection */
  add(status: string): Pick<Entry, 'contradiction'> {
    const before = this.#final
    if (Object.hasOwn(final, status)) this.#final = status
    if (before === undefined || final[before] === final[status] || ![before, status].includes('RJCT'))
      return {}
    return { contradiction: bothReason(before, noteOf(status).slice(0, 20)) }
  }
}
