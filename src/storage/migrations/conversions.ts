/** Conversions, the names of their payments, and the owners of customers. */
import type { Engine } from '../database.ts'
import { isOneOf, oneOf } from './one-of.ts'

/** Columns that never change, except as `laterCandidates` permits. */
function factsOf({ integer, text }: Engine) {
  return {
    kind: `${text} NOT NULL ${oneOf('kind', 'lead', 'sale', 'renewal', 'refund', 'dispute', 'dispute_won', 'attribution')}`,
    context: `${text} NOT NULL`,
    reference: `${text} NOT NULL`,
    reference_key: `${text} NOT NULL`,
    aliases: `${text} NOT NULL`,
    part: `${text} NOT NULL`,
    cumulative: `${integer} NOT NULL CHECK (cumulative IN (0, 1))`,
    amount: `${integer} NOT NULL CHECK (amount >= 0)`,
    currency: `${text} NOT NULL`,
    tax: `${integer} NOT NULL`,
    shipping: `${integer} NOT NULL`,
    discount: `${integer} NOT NULL`,
    lines: `${text} NOT NULL`,
    customer_id: `${integer} NOT NULL`,
    country: `${text} NOT NULL`,
    visit_id: `${integer} NOT NULL`,
    coupon: `${text} NOT NULL`,
    campaign: `${text} NOT NULL`,
    source_id: `${integer} NOT NULL`,
    occurred_at: `${integer} NOT NULL`,
    candidates: `${text} NOT NULL`,
    created_at: `${integer} NOT NULL`,
  }
}

export function conversions(engine: Engine): string[] {
  const { identity, integer, text, tableOptions, appendOnly, refusal } = engine
  const fact = factsOf(engine)
  const columns = Object.entries(fact).map(([name, type]) => `${name} ${type}`)
  return [
    `CREATE TABLE conversions (
      id ${identity},
      ${columns.join(', ')},
      affiliate_id ${integer} NOT NULL,
      customer ${text} NOT NULL,
      metadata ${text} NOT NULL,
      updated_at ${integer} NOT NULL
    ) ${tableOptions}`,
    'CREATE UNIQUE INDEX "conversions.reference" ON conversions (reference, context, kind, part)',
    'CREATE INDEX conversions_affiliate_id ON conversions (affiliate_id, id)',
    'CREATE INDEX conversions_customer_id ON conversions (customer_id, occurred_at, id) WHERE customer_id <> 0',
    'CREATE INDEX conversions_created_at ON conversions (created_at, id)',
    'CREATE INDEX conversions_updated_at ON conversions (updated_at, id)',
    `CREATE INDEX conversions_unattributed ON conversions (id) WHERE affiliate_id = 0 AND (${isOneOf('kind', 'lead', 'sale', 'renewal')})`,
    ...appendOnly('conversions', ['id', ...Object.keys(fact)]),
    // The affiliate may be set once, and never replaced.
    `CREATE TRIGGER conversions_credit BEFORE UPDATE OF affiliate_id ON conversions FOR EACH ROW WHEN (OLD.affiliate_id <> 0 AND NEW.affiliate_id <> OLD.affiliate_id) ${refusal}`,
    `CREATE TRIGGER conversions_erase BEFORE UPDATE OF customer, metadata ON conversions FOR EACH ROW WHEN (NEW.customer <> '' OR NEW.metadata <> '') ${refusal}`,
    `CREATE TABLE payment_names (
      context ${text} NOT NULL,
      name ${text} NOT NULL,
      payment_id ${text} NOT NULL,
      PRIMARY KEY (context, name)
    ) ${tableOptions}`,
    'CREATE INDEX payment_names_payment_id ON payment_names (payment_id, name)',
    `CREATE TABLE customer_names (
      context ${text} NOT NULL,
      name ${text} NOT NULL,
      customer_id ${integer} NOT NULL,
      PRIMARY KEY (context, name)
    ) ${tableOptions}`,
    'CREATE INDEX customer_names_customer_id ON customer_names (customer_id)',
    `ALTER TABLE customers ADD COLUMN affiliate_id ${integer}`,
    'CREATE INDEX customers_affiliate_id ON customers (affiliate_id, id) WHERE affiliate_id IS NOT NULL',
    `ALTER TABLE referrals ADD COLUMN conversion_id ${integer} NOT NULL DEFAULT 0`,
    `ALTER TABLE referrals ADD COLUMN judgement ${text} NOT NULL DEFAULT ''`,
    'CREATE INDEX referrals_conversion_id ON referrals (conversion_id, id) WHERE conversion_id <> 0',
  ]
}

/** Candidates may be added to a conversion as long as none of those it has is a claim: only a token or a visit that cannot be one. */
export function claimsAfterTokens({ dropTrigger, refusal }: Engine): string[] {
  const beginning = "rtrim(OLD.candidates, ']')"
  const refused = [
    "OLD.candidates = ''",
    'length(NEW.candidates) <= length(OLD.candidates)',
    `substr(NEW.candidates, 1, length(${beginning})) <> ${beginning}`,
    `replace(OLD.candidates, '"affiliate_id":0,', '') LIKE '%"affiliate_id":%'`,
    `OLD.candidates LIKE '%"by":"coupon"%'`,
  ]
  return [
    dropTrigger('conversions', 'claim'),
    `CREATE TRIGGER conversions_claim BEFORE UPDATE OF candidates ON conversions FOR EACH ROW WHEN (${refused.join(' OR ')}) ${refusal}`,
  ]
}

/** Whether the sender has named the currency of a refund or dispute. For existing ones, this is not known. */
export function assumedCurrencies(engine: Engine): string[] {
  const { allowChanges, appendOnly, integer } = engine
  const { candidates, ...fixed } = factsOf(engine)
  return [
    `ALTER TABLE conversions ADD COLUMN currency_assumed ${integer} NOT NULL DEFAULT 0 CHECK (currency_assumed IN (0, 1))`,
    ...allowChanges('conversions'),
    ...appendOnly('conversions', ['id', ...Object.keys(fixed), 'currency_assumed']),
  ]
}

/** The candidates of a conversion without any may be set once: a later report may contain a claim, even one that is refused. */
export function laterCandidates(engine: Engine): string[] {
  const { allowChanges, appendOnly, refusal } = engine
  const { candidates, ...fixed } = factsOf(engine)
  return [
    ...allowChanges('conversions'),
    ...appendOnly('conversions', ['id', ...Object.keys(fixed)]),
    `CREATE TRIGGER conversions_claim BEFORE UPDATE OF candidates ON conversions FOR EACH ROW WHEN (OLD.candidates <> '[]' OR NEW.candidates = '[]') ${refusal}`,
  ]
}
