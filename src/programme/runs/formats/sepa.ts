/**
 * A SEPA credit transfer, pain.001.001.09 of ISO 20022, after the EPC's Customer-to-PSP Implementation Guidelines
 * (EPC132-08): EUR, charges shared (SLEV), the characters of the Latin set that every bank takes.
 */
import { MOST_SEPA_NAME, problemInSepa } from '../../../base/bank-texts.ts'
import { bicProblem, ibanProblem, outsideSepa } from '../../../base/banks.ts'
import { decimalText } from '../../../base/money.ts'
import { formatDay } from '../../../base/time.ts'
import { fileReferenceOf } from '../references.ts'
import type { Format, Frame, Line } from './format.ts'

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll("'", '&apos;')

const tag = (name: string, content: string, attributes = '') => `<${name}${attributes}>${content}</${name}>`
const textTag = (name: string, text: string) => tag(name, escaped(text))

const agent = (bic: string) =>
  tag('FinInstnId', bic === '' ? tag('Othr', textTag('Id', 'NOTPROVIDED')) : textTag('BICFI', bic))

const account = (iban: string) => tag('Id', textTag('IBAN', iban))

function transaction({ amount, reference, payee_name, account: to }: Line, { run, decimals }: Frame): string {
  return tag(
    'CdtTrfTxInf',
    [
      tag('PmtId', textTag('InstrId', reference) + textTag('EndToEndId', reference)),
      tag('Amt', tag('InstdAmt', decimalText(amount, decimals), ' Ccy="EUR"')),
      to.bic ? tag('CdtrAgt', agent(to.bic)) : '',
      tag('Cdtr', textTag('Nm', payee_name)),
      tag('CdtrAcct', account(to.iban ?? '')),
      run.note === '' ? '' : tag('RmtInf', textTag('Ustrd', run.note)),
    ].join(''),
  )
}

/** The header of the file, whose elements are closed after the transactions. */
function header({ run, at, payer, part, count, sum, decimals }: Frame): string {
  const moment = new Date(at * 1000).toISOString().slice(0, 19)
  const day = formatDay(Math.max(at, run.execution_date ?? 0))
  const id = fileReferenceOf(run, part)
  const totals = textTag('NbOfTxs', String(count)) + textTag('CtrlSum', decimalText(sum, decimals))
  return [
    '<?xml version="1.0" encoding="UTF-8"?>\n',
    '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"><CstmrCdtTrfInitn>',
    tag(
      'GrpHdr',
      [
        textTag('MsgId', id),
        textTag('CreDtTm', moment),
        totals,
        tag('InitgPty', textTag('Nm', payer.name)),
      ].join(''),
    ),
    '<PmtInf>',
    textTag('PmtInfId', id),
    textTag('PmtMtd', 'TRF'),
    textTag('BtchBookg', 'true'),
    totals,
    tag('PmtTpInf', tag('SvcLvl', textTag('Cd', 'SEPA'))),
    tag('ReqdExctnDt', textTag('Dt', day)),
    tag('Dbtr', textTag('Nm', payer.name)),
    tag('DbtrAcct', account(payer.iban)),
    tag('DbtrAgt', agent(payer.bic)),
    textTag('ChrgBr', 'SLEV'),
    '\n',
  ].join('')
}

export const sepa: Format = {
  name: 'sepa',
  extension: 'xml',
  contentType: 'application/xml; charset=utf-8',
  mostAmount: 99_999_999_999n,
  problemsOfPayer: ({ name, iban, bic }) => [
    ...(name === '' ? ['Name (payer_name) is empty.'] : []),
    ...[problemInSepa(name, 'Name (payer_name)', MOST_SEPA_NAME) ?? []].flat(),
    ...(iban === '' || ibanProblem(iban) ? ['IBAN (payer_iban) is empty or wrong.'] : []),
    ...(bic !== '' && bicProblem(bic) ? ['BIC (payer_bic) is wrong.'] : []),
  ],
  problemOfNote: note => problemInSepa(note, 'The note', 140),
  problemOfName: name => problemInSepa(name, 'The name', MOST_SEPA_NAME),
  problemOfAccount: outsideSepa,
  async *write(frame, lines) {
    yield header(frame)
    for await (const batch of lines()) yield batch.map(line => `${transaction(line, frame)}\n`).join('')
    yield '</PmtInf></CstmrCdtTrfInitn></Document>\n'
  },
}
