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

/**
 * Sums by day of all affiliates together, since `visit_days` may have as many rows of a day as there were visits. Also stores
 * `visit_days` in the order of its key, in which it is read.
 */
export function visitTotals(engine: Engine): string[] {
  const { integer, text, clusteredTableOptions } = engine
  const counts = ['visits', 'unique_visits', 'converted']
  const columns = (...key: string[]) =>
    [...key, ...counts.map(name => `${name} ${integer} NOT NULL`)].join(', ')
  return [
    ...engine.lockTables(['visits', 'visit_days']),
    `CREATE TABLE visit_days_by_key (${columns(
      `day ${integer} NOT NULL`,
      `affiliate_id ${integer} NOT NULL`,
      `campaign ${text} NOT NULL`,
    )}, PRIMARY KEY (day, affiliate_id, campaign)) ${clusteredTableOptions}`,
    `INSERT INTO visit_days_by_key (day, affiliate_id, campaign, ${counts})
      SELECT day, affiliate_id, campaign, ${counts} FROM visit_days ORDER BY day, affiliate_id, campaign`,
    'DROP TABLE visit_days',
    'ALTER TABLE visit_days_by_key RENAME TO visit_days',
    'CREATE INDEX visit_days_affiliate_id ON visit_days (affiliate_id, day)',
    `CREATE TABLE visit_totals (${columns(
      `day ${integer} NOT NULL`,
      `campaign ${text} NOT NULL`,
      `part ${integer} NOT NULL`,
    )}, PRIMARY KEY (day, campaign, part)) ${clusteredTableOptions}`,
    `INSERT INTO visit_totals (day, campaign, part, ${counts})
      SELECT day, campaign, 0, ${counts.map(name => `sum(${name})`)} FROM visit_days GROUP BY day, campaign`,
  ]
}

/** Finds the visits of a day in the order of identifiers. */
export function visitsByDay(): string[] {
  return ['CREATE INDEX visits_day ON visits (((created_at + 864000000000) / 86400 - 10000000), id)']
}

/** Until now, only visits no longer stored individually were summed by day. */
export function visitDaysOfAll(): string[] {
  return [
    `INSERT INTO visit_days (day, affiliate_id, campaign, visits, unique_visits, converted)
      SELECT (created_at + 864000000000) / 86400 - 10000000, affiliate_id, campaign, count(*),
        count(*) FILTER (WHERE repeated = 0), count(*) FILTER (WHERE referral_id <> 0)
      FROM visits WHERE true GROUP BY 1, 2, 3
      ON CONFLICT (day, affiliate_id, campaign) DO UPDATE SET visits = visit_days.visits + excluded.visits,
        unique_visits = visit_days.unique_visits + excluded.unique_visits,
        converted = visit_days.converted + excluded.converted`,
    // No report reads it any more.
    'DROP INDEX visits_created_at',
    'CREATE INDEX visits_created_at ON visits (created_at, id)',
  ]
}
