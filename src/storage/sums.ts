/**
 * Sums that are exact. They may be larger than a double can hold, so they come as text; and larger than an integer of
 * SQLite, so they come as two, of what amounts have of PART and of what is left.
 * See docs/decisions/money.md.
 */
import { type RawBuilder, sql } from 'kysely'

const PART = 1_000_000

/** An amount in two expressions. */
export type Parts = Readonly<Record<'parts' | 'rest', RawBuilder<unknown>>>

/** @param filter narrows the rows: `filter (where …)` */
export function exactSum(
  amount: RawBuilder<unknown>,
  filter: RawBuilder<unknown> = sql``,
): RawBuilder<string> {
  return exactSumOfParts(partsIn(amount), filter)
}

/** What the two columns have of an amount in a query. */
export function partsIn(amount: RawBuilder<unknown>): Parts {
  const part = sql.lit(PART)
  return { parts: sql`${amount} / ${part}`, rest: sql`${amount} % ${part}` }
}

/** The same of amounts that are stored in two columns. */
export function exactSumOfParts(
  { parts, rest }: Parts,
  filter: RawBuilder<unknown> = sql``,
): RawBuilder<string> {
  const sum = (of: RawBuilder<unknown>) => sql`cast(coalesce(sum(${of}) ${filter}, 0) as text)`
  return sql`${sum(parts)} || ' ' || ${sum(rest)}`
}

/** The same amount in the one way in which `rest` is from 0 to PART: sums of parts are not all in it. */
export function carried({ parts, rest }: Parts): Parts {
  const part = sql.lit(PART)
  const left = sql`((${rest}) % ${part} + ${part}) % ${part}`
  return { parts: sql`(${parts}) + ((${rest}) - ${left}) / ${part}`, rest: left }
}

/** What the two columns have of an amount. */
export function splitSum(units: bigint): { parts: number; rest: number } {
  return { parts: Number(units / BigInt(PART)), rest: Number(units % BigInt(PART)) }
}

/** @param text of `exactSum` @returns it in minor units */
export function unitsOfSum(text: string): bigint {
  const [parts, rest] = text.split(' ')
  return BigInt(parts!) * BigInt(PART) + BigInt(rest!)
}

/** A sum for a column of integers: as engines give it, so text where a number would not hold it. */
export function storedSum(units: bigint): number {
  const number = Number(units)
  // Cast: columns of sums are declared as numbers, and what reads them knows of the text.
  return Number.isSafeInteger(number) ? number : (String(units) as unknown as number)
}

/** Whether a sum is anything but 0, for HAVING. No part of it is larger than an engine's integers. */
export function isNotZero(amount: RawBuilder<unknown>): RawBuilder<boolean> {
  const part = sql.lit(PART)
  const rest = sql`sum(${amount} % ${part})`
  return sql`NOT (${rest} % ${part} = 0 AND sum(${amount} / ${part}) = -${rest} / ${part})`
}
