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

/** What is said of one payment, or of a file as a whole, while it is read. */
type Said = Record<string, string>

/** Elements that say something, within one transaction or the group. */
const TOLD = ['OrgnlEndToEndId', 'TxSts', 'GrpSts', 'OrgnlMsgId', 'Cd', 'Prtry', 'AddtlInf']

/** @throws Failure invalid_argument */
export function* readPain002(content: string): Generator<Entry> {
  let said: Said = {}
  let isReport = false
  for (const { name, text, path } of readXml(content)) {
    isReport ||= name === 'CstmrPmtStsRpt'
    const isOwn = path.includes('TxInfAndSts') || path.includes('OrgnlGrpInfAndSts')
    if (text !== undefined && isOwn && TOLD.includes(name))
      said[name] = said[name] ? `${said[name]} ${text}` : text
    if (name !== 'TxInfAndSts' && name !== 'OrgnlGrpInfAndSts') continue
    const entry = entryOf(said, name === 'TxInfAndSts')
    if (entry) yield entry
    said = {}
  }
  if (!isReport) throw unreadable('must be a pain.002: it has no CstmrPmtStsRpt.')
}

/** A group stands for all of its payments only where it was rejected. */
function entryOf(said: Said, isTransaction: boolean): Entry | undefined {
  const note = noteOf([said.Cd, said.Prtry, said.AddtlInf].filter(Boolean).join(' '))
  if (!isTransaction) {
    const isRejected = said.GrpSts === 'RJCT'
    return isRejected ? { reference: said.OrgnlMsgId ?? '', outcome: 'failed', note } : undefined
  }
  return { reference: said.OrgnlEndToEndId ?? '', outcome: outcomeOf(said.TxSts ?? ''), note }
}
