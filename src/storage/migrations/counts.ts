import type { Engine } from '../database.ts'

/** Counts of records. The service counts existing records when it starts. */
export function recordCounts({ integer, text, clusteredTableOptions }: Engine): string[] {
  return [
    `CREATE TABLE record_counts (
      record_kind ${text} NOT NULL,
      value ${text} NOT NULL,
      records ${integer} NOT NULL,
      PRIMARY KEY (record_kind, value)
    ) ${clusteredTableOptions}`,
    `CREATE TABLE counted_kinds (
      record_kind ${text} PRIMARY KEY,
      field ${text} NOT NULL,
      as_of ${integer} NOT NULL
    ) ${clusteredTableOptions}`,
  ]
}
