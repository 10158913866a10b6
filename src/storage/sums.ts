/**
 * Exact sums. They may exceed a double, so queries return them as text. They may also exceed the integers of SQLite, so
 * they are computed in two columns: whole multiples of PART, and the rest.
 * See docs/decisions/money.md.
 */
import { type RawBuilder, sql } from 'kysely'

const PART = 1_000_000

/** An amount as two expressions: parts * PART + rest. */
export type Parts = Readonly<Record<'parts' | 'rest', RawBuilder<unknown>>>

/** The exact sum of an amount, for `unitsOfSum`. @param filter narrows the rows: `filter (where …)` */
export function exactSum(
  amount: RawBuilder<unknown>,
  filter: RawBuilder<unknown> = sql``,
): RawBuilder<string> {
  return exactSumOfParts(partsIn(amount), filter)
}

/** Splits an amount of a query into parts and rest. */
export function partsIn(amount: RawBuilder<unknown>): Parts {
  const part = sql.lit(PART)
  return { parts: sql`${amount} / ${part}`, rest: sql`${amount} % ${part}` }
}

/** The same as `exactSum`, of amounts that are stored as parts and rest. */
export function exactSumOfParts(
  { parts, rest }: Parts,
  filter: RawBuilder<unknown> = sql``,
): RawBuilder<string> {
  const sum = (of: RawBuilder<unknown>) => sql`cast(coalesce(sum(${of}) ${filter}, 0) as text)`
  return sql`${sum(parts)} || ' ' || ${sum(rest)}`
}

/** The same amount with `rest` from 0 to PART - 1. Sums of parts and rests may exceed that. */
export function carried({ parts, rest }: Parts): Parts {
  const part = sql.lit(PART)
  const left = sql`((${rest}) % ${part} + ${part}) % ${part}`
  return { parts: sql`(${parts}) + ((${rest}) - ${left}) / ${part}`, rest: left }
}

/** Splits an amount, in minor units, into parts and rest. */
export function splitSum(units: bigint): { parts: number; rest: number } {
  return { parts: Number(units / BigInt(PART)), rest: Number(units % BigInt(PART)) }
}

/** The value of an `exactSum`, in minor units. */
export function unitsOfSum(text: string): bigint {
  const [parts, rest] = text.split(' ')
  return BigInt(parts!) * BigInt(PART) + BigInt(rest!)
}

/** A sum for a column of integers, in minor units: as text if a number cannot hold it, as engines return it as well. */
export function storedSum(units: bigint): number {
  const number = Number(units)
  // Cast: columns of sums are declared as numbers, and their readers also accept text.
  return Number.isSafeInteger(number) ? number : (String(units) as unknown as number)
}

/** Whether a sum is not 0, for HAVING, computed without exceeding an engine's integers. */
export function isNotZero(amount: RawBuilder<unknown>): RawBuilder<boolean> {
  const part = sql.lit(PART)
  const rest = sql`sum(${amount} % ${part})`
  return sql`NOT (${rest} % ${part} = 0 AND sum(${amount} / ${part}) = -${rest} / ${part})`
}
