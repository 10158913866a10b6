/** What a sale is judged by: the rules and rates in force. */
import { type Fraction, ONE } from '../../base/fraction.ts'
import type { Settings } from '../../base/settings.ts'
import type { Tx } from '../../storage/database.ts'
import { type Judgement, judge } from '../commission/engine.ts'
import type { Earner, Sale } from '../commission/model.ts'
import { RuleSet } from '../commission/rule-set.ts'

interface Judged {
  readonly judgement: Judgement
  /** What one minor unit of the sale's currency is in that of the programme's; null when there is no rate. */
  readonly exchange: Fraction | null
}

export async function judged(_tx: Tx, sale: Sale, earner: Earner, settings: Settings): Promise<Judged> {
  const rules = new RuleSet([], settings.decimals)
  const exchange = sale.currency === settings.currency ? ONE : null
  return { judgement: judge(sale, earner, { settings, rules, exchange }), exchange }
}
