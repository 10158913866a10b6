/**
 * Reads the answer of a bank to a SEPA file: pain.002 of ISO 20022, of any version. Only what is final counts: that a
 * payment was accepted (ACTC, ACCP, ACSP, …) does not say that it was paid.
 */
import type { Outcome } from '../outcome.ts'
import { unreadable } from './csv.ts'
import { type Entry, noteOf } from './entry.ts'
import { readXml } from './xml.ts'

const final: Readonly<Record<string, Outcome>> = {
  ACSC: 'paid',
  ACCC: 'paid',
  RJCT: 'failed',
  CANC: 'failed',
}
const open = ['ACTC', 'ACCP', 'ACSP', 'ACWC', 'ACWP', 'ACFC', 'PDNG', 'RCVD', 'PATC', 'PART']

function outcomeOf(status: string): Outcome | undefined {
  if (open.includes(status)) return undefined
  const outcome = final[status]
  if (outcome === undefined)
    throw unreadable(`has the status ${noteOf(status).slice(0, 20)}, which is not known.`)
  return outcome
}

/** What is elements of one payment, or of a file as a whole, while it is read. */
type Elements = Record<string, string>

/** Elements that say something, within one transaction or the group. */
const READ = ['OrgnlEndToEndId', 'TxSts', 'GrpSts', 'OrgnlMsgId', 'Cd', 'Prtry', 'AddtlInf']

/** @throws Failure invalid_argument */
export function* readPain002(content: string): Generator<Entry> {
  let elements: Elements = {}
  let isReport = false
  for (const { name, text, path } of readXml(content)) {
    isReport ||= name === 'CstmrPmtStsRpt'
    const isOwn = path.includes('TxInfAndSts') || path.includes('OrgnlGrpInfAndSts')
    if (text !== undefined && isOwn && READ.includes(name))
      elements[name] = elements[name] ? `${elements[name]} ${text}` : text
    if (name !== 'TxInfAndSts' && name !== 'OrgnlGrpInfAndSts') continue
    const entry = entryOf(elements, name === 'TxInfAndSts')
    if (entry) yield entry
    elements = {}
  }
  if (!isReport) throw unreadable('must be a pain.002: it has no CstmrPmtStsRpt.')
}

/** A group stands for all of its payments only where it was rejected. */
function entryOf(elements: Elements, isTransaction: boolean): Entry | undefined {
  const note = noteOf([elements.Cd, elements.Prtry, elements.AddtlInf].filter(Boolean).join(' '))
  if (!isTransaction) {
    const isRejected = elements.GrpSts === 'RJCT'
    return isRejected ? { reference: elements.OrgnlMsgId ?? '', outcome: 'failed', note } : undefined
  }
  return { reference: elements.OrgnlEndToEndId ?? '', outcome: outcomeOf(elements.TxSts ?? ''), note }
}
