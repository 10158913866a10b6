import type { Engine } from '../database.ts'

/** The service counts what is there when it runs. */
export function recordCounts({ integer, text, clusteredTableOptions }: Engine): string[] {
  return [
    `CREATE TABLE record_counts (
      record_kind ${text} NOT NULL,
      value ${text} NOT NULL,
      records ${integer} NOT NULL,
      PRIMARY KEY (record_kind, value)
    ) ${clusteredTableOptions}`,
    `ALTER TABLE audit_chain ADD COLUMN counted ${integer} NOT NULL DEFAULT -1`,
  ]
}
