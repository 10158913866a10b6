/** Sums of amounts as the server writes them, exact whatever their length. */

/** @param records with amounts such as '12.50', all with the same decimals @returns '-3.00' */
export function sumOf(records: readonly { amount: string }[]): string {
  const decimals = records[0]?.amount.split('.')[1]?.length ?? 0
  const units = records.reduce((sum, { amount }) => sum + BigInt(amount.replace('.', '')), 0n)
  const digits = String(units < 0n ? -units : units).padStart(decimals + 1, '0')
  const text = decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
  return units < 0n ? `-${text}` : text
}

/** The numbers in a text with commas; what is none is left out. */
export function numbersIn(text: unknown): number[] {
  return String(text ?? '')
    .split(',')
    .map(Number)
    .filter(number => Number.isSafeInteger(number) && number > 0)
}
