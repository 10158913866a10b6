import type { Engine } from '../database.ts'

export function visitDays({ integer, text, tableOptions }: Engine): string[] {
  return [
    `CREATE TABLE visit_days (
      day ${integer} NOT NULL,
      affiliate_id ${integer} NOT NULL,
      campaign ${text} NOT NULL,
      visits ${integer} NOT NULL,
      unique_visits ${integer} NOT NULL,
      converted ${integer} NOT NULL,
      PRIMARY KEY (day, affiliate_id, campaign)
    ) ${tableOptions}`,
    'CREATE INDEX visit_days_affiliate_id ON visit_days (affiliate_id, day)',
  ]
}
