/**
 * A file for the ACH network, after the record layouts of the Nacha Operating Rules (Appendix Three, ACH Record Format
 * Specifications): 94 columns, blocks of ten records; PPD for persons and CCD for companies, credits only.
 */
import { MOST_ACH_PAYER, problemInAch } from '../../../base/bank-texts.ts'
import { isRouting } from '../../../base/banks.ts'
import { DAY_SECONDS } from '../../../base/time.ts'
import { isDrawn } from '../references.ts'
import type { Format, Frame, Line, Lines } from './format.ts'

const WIDTH = 94
const RECORDS_PER_BLOCK = 10
/** Of the field that identifies the individual. */
const MOST_REFERENCE = 15
const MOST_NAME = 22
const MOST_NOTE = 80
const MOST_BANK = 23

const padEnd = (text: string, width: number) => text.slice(0, width).padEnd(width)

/** Without its first digits a number would be another one. */
function padNumber(value: number | bigint, width: number): string {
  const text = String(value).padStart(width, '0')
  if (text.length > width) throw new Error(`${text} has no room in ${width} digits of an ACH file.`)
  return text
}

/** Of an entry hash there are the last ten digits. */
const HASHES = 10_000_000_000n

function record(...fields: string[]): string {
  const text = fields.join('')
  if (text.length !== WIDTH) throw new Error(`A record of an ACH file has ${text.length} characters.`)
  return `${text}\r\n`
}

/** YYMMDD and HHMM, UTC. */
function clock(at: number): { day: string; time: string } {
  const text = new Date(at * 1000).toISOString()
  return { day: text.slice(2, 10).replaceAll('-', ''), time: text.slice(11, 16).replace(':', '') }
}

const isOfWeekend = (time: number) => [0, 6].includes(new Date(time * 1000).getUTCDay())

/**
 * When the payees are to have their money: on the day that was chosen, or the next that is not of a weekend. That of the approval
 * would ask for Same Day ACH, which banks charge for, or refuse.
 */
function effectiveDay({ at, run }: Frame): string {
  if (!isDrawn(run)) return clock(at).day
  let time = Math.max(at + DAY_SECONDS, run.execution_date ?? 0)
  while (isOfWeekend(time)) time += DAY_SECONDS
  return clock(time).day
}

interface Totals {
  records: number
  batches: number
  entries: number
  /** The sum of the first eight digits of all routing numbers. */
  hash: bigint
  credits: bigint
}

const none = (): Totals => ({ records: 0, batches: 0, entries: 0, hash: 0n, credits: 0n })

const MODIFIERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'

/** Tells the files of one day apart. */
const modifierOf = ({ run, part }: Frame) =>
  isDrawn(run) ? MODIFIERS[(run.id + part - 1) % MODIFIERS.length]! : 'A'

function fileHeader(frame: Frame): string {
  const { payer, at, run } = frame
  const { day, time } = clock(at)
  return record(
    '101',
    ` ${payer.routing}`,
    padEnd(payer.companyId, 10),
    day,
    time,
    modifierOf(frame),
    '094',
    '10',
    '1',
    padEnd(payer.bank, MOST_BANK),
    padEnd(payer.name, 23),
    padEnd(isDrawn(run) ? run.reference : `RUN${run.id}`, 8),
  )
}

function batchHeader(frame: Frame, kind: Kind, number: number): string {
  const { payer, at } = frame
  return record(
    '5',
    '220',
    padEnd(payer.name, MOST_ACH_PAYER),
    padEnd('', 20),
    padEnd(payer.companyId, 10),
    kind,
    padEnd('PAYOUT', 10),
    clock(at).day,
    effectiveDay(frame),
    '   ',
    '1',
    payer.routing.slice(0, 8),
    padNumber(number, 7),
  )
}

function entry(line: Line, { payer, run }: Frame, sequence: number): string {
  const { account, amount, reference, payee_name } = line
  const trace = payer.routing.slice(0, 8) + padNumber(sequence, 7)
  const text = record(
    '6',
    account.accountType === 'savings' ? '32' : '22',
    account.routingNumber ?? '',
    padEnd(account.accountNumber ?? '', 17),
    padNumber(amount, 10),
    padEnd(reference, MOST_REFERENCE),
    padEnd(payee_name, MOST_NAME),
    '  ',
    run.note === '' ? '0' : '1',
    trace,
  )
  return run.note === '' ? text : text + record('705', padEnd(run.note, MOST_NOTE), '0001', trace.slice(-7))
}

function batchControl({ payer }: Frame, { entries, hash, credits }: Totals, number: number): string {
  return record(
    '8',
    '220',
    padNumber(entries, 6),
    padNumber(hash % HASHES, 10),
    padNumber(0, 12),
    padNumber(credits, 12),
    padEnd(payer.companyId, 10),
    padEnd('', 19),
    padEnd('', 6),
    payer.routing.slice(0, 8),
    padNumber(number, 7),
  )
}

type Kind = 'PPD' | 'CCD'

const kindOf = ({ account }: Line): Kind => (account.company ? 'CCD' : 'PPD')

/** The batch of one kind of payee; empty where there are none. */
async function* batch(frame: Frame, lines: Lines, kind: Kind, file: Totals): AsyncGenerator<string> {
  const totals = none()
  const perEntry = frame.run.note === '' ? 1 : 2
  const number = file.batches + 1
  for await (const batch of lines()) {
    const linesOfKind = batch.filter(line => kindOf(line) === kind)
    if (linesOfKind.length === 0) continue
    let text = totals.entries === 0 ? batchHeader(frame, kind, number) : ''
    for (const line of linesOfKind) {
      totals.entries += perEntry
      totals.hash += BigInt(line.account.routingNumber?.slice(0, 8) ?? 0)
      totals.credits += BigInt(line.amount)
      text += entry(line, frame, file.entries / perEntry + totals.entries / perEntry)
    }
    yield text
  }
  if (totals.entries === 0) return
  yield batchControl(frame, totals, number)
  file.batches = number
  file.records += totals.entries + 2
  file.entries += totals.entries
  file.hash += totals.hash
  file.credits += totals.credits
}

export const nacha: Format = {
  name: 'nacha',
  extension: 'ach',
  contentType: 'text/plain; charset=us-ascii',
  // The count of entries has six digits, and each may have an addendum.
  most: 400_000,
  mostReference: MOST_REFERENCE,
  mostAmount: 9_999_999_999n,
  // The total has twelve digits.
  mostSum: 999_999_999_999n,
  problemsOfPayer: ({ name, routing, companyId, bank }) => [
    ...(name === '' ? ['Name (payer_name) is empty.'] : []),
    ...[problemInAch(name, 'Name (payer_name)', MOST_ACH_PAYER) ?? []].flat(),
    ...(isRouting(routing) ? [] : ['Routing number (payer_routing) must have 9 digits.']),
    ...(companyId === '' ? ['Company identification (payer_company_id) is empty.'] : []),
    ...(bank === '' ? ['Bank (payer_bank) is empty.'] : []),
    ...[problemInAch(bank, 'Bank (payer_bank)', MOST_BANK) ?? []].flat(),
  ],
  problemOfNote: note => problemInAch(note, 'The note', MOST_NOTE),
  problemOfName: name => problemInAch(name, 'The name', MOST_NAME),
  async *write(frame, lines) {
    const file = none()
    yield fileHeader(frame)
    yield* batch(frame, lines, 'PPD', file)
    yield* batch(frame, lines, 'CCD', file)
    const records = file.records + 2
    const blocks = Math.ceil(records / RECORDS_PER_BLOCK)
    yield record(
      '9',
      padNumber(file.batches, 6),
      padNumber(blocks, 6),
      padNumber(file.entries, 8),
      padNumber(file.hash % HASHES, 10),
      padNumber(0, 12),
      padNumber(file.credits, 12),
      padEnd('', 39),
    )
    yield record('9'.repeat(WIDTH)).repeat(blocks * RECORDS_PER_BLOCK - records)
  },
}
