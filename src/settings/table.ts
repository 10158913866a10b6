import type {} from '../events/schema.ts'
import { integer, neither, type RowsOf, type Table, text } from '../storage/table.ts'
import { earning } from './earning.ts'
import { payouts } from './payouts.ts'
import { tracking } from './tracking.ts'

const columns = { name: text(neither), value: text(neither) } as const

export const settingsTable = {
  name: 'settings',
  key: ['name'],
  columns,
  copied: 'whole',
  logged: {
    kind: 'settings',
    actions: ['edit'],
    plain: [
      'default_rate',
      'default_rate_type',
      'rate_types',
      'currency',
      ...tracking.names,
      ...payouts.names,
      ...earning.names,
    ],
    personal: [],
    public: true,
    readBy: 'settings.read',
  },
} as const satisfies Table

const rateTypeColumns = { name: text(neither), position: integer(neither) } as const

export const rateTypesTable = {
  name: 'rate_types',
  key: ['name'],
  columns: rateTypeColumns,
  copied: 'whole',
} as const satisfies Table

interface SettingsTable extends RowsOf<typeof columns> {}
interface RateTypesTable extends RowsOf<typeof rateTypeColumns> {}

declare module '../storage/tables.ts' {
  interface Tables {
    settings: SettingsTable
    rate_types: RateTypesTable
  }
}

declare module '../events/schema.ts' {
  interface Actions {
    settings: (typeof settingsTable.logged.actions)[number]
  }
}
