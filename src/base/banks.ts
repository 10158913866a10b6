/** Numbers of accounts and banks, as far as they can be checked without asking anybody. */

/** A BIC by ISO 9362: bank, country, place and maybe the branch. */
export function isBic(text: string): boolean {
  return /^[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?$/.test(text)
}

/** A routing number of the ABA: its ninth digit checks the others, by the weights 3, 7 and 1. */
export function isRouting(text: string): boolean {
  if (!/^\d{9}$/.test(text)) return false
  const sum = [...text].reduce((sum, digit, index) => sum + Number(digit) * [3, 7, 1][index % 3]!, 0)
  return sum % 10 === 0 && text !== '000000000'
}

/**
 * What is wrong with an IBAN by ISO 13616, in capital letters and without spaces.
 * @returns undefined when nothing is
 */
export function ibanProblem(text: string): string | undefined {
  if (!/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(text))
    return 'must be an IBAN: a country, two check digits, and the account.'
  const moved = text.slice(4) + text.slice(0, 4)
  const digits = moved.replace(/[A-Z]/g, letter => String(letter.charCodeAt(0) - 55))
  return BigInt(digits) % 97n === 1n ? undefined : 'must be an IBAN whose check digits are right.'
}
