/** Exact arithmetic on amounts as the server writes them. */

/**
 * @param text such as '-12.5' @returns minor units; undefined if it is not an amount with at most that many decimals
 */
export function unitsOf(text: string | number, decimals: number): bigint | undefined {
  const [, sign, whole, fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(String(text).trim()) ?? []
  if (whole === undefined || fraction.length > decimals) return undefined
  const units = BigInt(whole + fraction.padEnd(decimals, '0'))
  return sign === '-' ? -units : units
}

/** @returns for example '-3.00' */
export function amountOf(units: bigint, decimals: number): string {
  const digits = String(units < 0n ? -units : units).padStart(decimals + 1, '0')
  const text = decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
  return units < 0n ? `-${text}` : text
}

/** @param records with amounts such as '12.50', all with the same number of decimals */
export function sumOf(records: readonly { amount: string }[]): string {
  const decimals = records[0]?.amount.split('.')[1]?.length ?? 0
  return amountOf(
    records.reduce((sum, { amount }) => sum + unitsOf(amount, decimals)!, 0n),
    decimals,
  )
}

/** The identifiers in a comma-separated text; anything else is ignored. */
export function numbersIn(text: unknown): number[] {
  return String(text ?? '')
    .split(',')
    .map(Number)
    .filter(number => Number.isSafeInteger(number) && number > 0)
}
