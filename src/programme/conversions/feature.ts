import { decimalsOf } from '../../base/currencies.ts'
import { decimalText } from '../../base/money.ts'
import { memberOf } from '../../base/unknown.ts'
import { feature, type SheetColumns, sheetOf } from '../../records/feature.ts'
import { partsOf } from '../../records/field.ts'
import { checks } from './check.ts'
import { type Conversion, conversion } from './conversion.ts'
import { listing, conversions as resource } from './routes.ts'
import { customerNamesTable, followingSalesTable, paymentNamesTable } from './table.ts'

const amounts = ['amount', 'tax', 'shipping', 'discount'] as const

const text = (value: unknown): string | number =>
  typeof value === 'number' || typeof value === 'string' ? value : JSON.stringify(value)

const columns: SheetColumns<Conversion> = {
  conversion_id: ({ id }) => id,
  ...Object.fromEntries(
    partsOf(conversion.fields)
      .filter(({ field }) => field.wire)
      .map(({ name, column, field }) => [
        name,
        (row: Conversion, settings) => text(field.show(memberOf(row, column), settings)),
      ]),
  ),
  ...Object.fromEntries(
    amounts.map(name => [name, (row: Conversion) => decimalText(row[name], decimalsOf(row.currency) ?? 0)]),
  ),
}

export const conversions = feature(conversion, {
  tables: [conversion.table, paymentNamesTable, customerNamesTable, followingSalesTable],
  resource,
  listing,
  sheet: sheetOf(columns),
  checks,
})
