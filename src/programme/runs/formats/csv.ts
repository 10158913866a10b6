/** A plain file for other means of payment: RFC 4180, with a choice of columns. */
import { CSV_BEGINNING, CSV_TYPE, csvLine } from '../../../base/csv.ts'
import { decimalText } from '../../../base/money.ts'
import type { Format, Frame, Line } from './format.ts'

const cells: Readonly<Record<string, (line: Line, frame: Frame) => string | number>> = {
  reference: line => line.reference,
  affiliate_id: line => line.affiliate_id,
  name: line => line.payee_name,
  account: line => line.payee_account,
  amount: (line, { decimals }) => decimalText(line.amount, decimals),
  currency: (_line, { currency }) => currency,
  note: (_line, { run }) => run.note,
  item: line => line.id,
}

export const csvColumns = Object.keys(cells)

export const csv: Format = {
  name: 'csv',
  extension: 'csv',
  contentType: CSV_TYPE,
  async *write(frame, lines) {
    const columns = frame.columns.length > 0 ? frame.columns : csvColumns
    yield CSV_BEGINNING + csvLine(columns)
    for await (const batch of lines()) {
      yield batch.map(line => csvLine(columns.map(column => cells[column]!(line, frame)))).join('')
    }
  },
}
