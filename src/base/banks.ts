/** Account and bank numbers, as far as they can be checked offline. */
import { isValidBIC, ValidationErrorsIBAN, validateIBAN } from 'ibantools'

/** An IBAN or a BIC as it is stored: people write either in groups, and in small letters. */
export const compactCode = (text: string): string => text.replaceAll(' ', '').toUpperCase()

/** BIC (ISO 9362): bank, country, location and optional branch. */
export function isBic(text: string): boolean {
  return isValidBIC(text)
}

/** ABA routing number: the ninth digit is a checksum with the weights 3, 7 and 1. */
export function isRouting(text: string): boolean {
  if (!/^\d{9}$/.test(text)) return false
  const sum = [...text].reduce((sum, digit, index) => sum + Number(digit) * [3, 7, 1][index % 3]!, 0)
  return sum % 10 === 0 && text !== '000000000'
}

/**
 * Checks an IBAN against ISO 13616 and the format of its country. Expects capital letters and no spaces.
 * @returns the problem, or undefined if there is none
 */
export function ibanProblem(text: string): string | undefined {
  const { valid, errorCodes } = validateIBAN(text)
  if (valid) return undefined
  const { NoIBANProvided, NoIBANCountry, WrongBBANLength, WrongBBANFormat } = ValidationErrorsIBAN
  const has = (...codes: readonly ValidationErrorsIBAN[]) => codes.some(code => errorCodes.includes(code))
  if (has(NoIBANProvided, NoIBANCountry)) {
    return 'must be an IBAN: the two letters of a country that has them, two check digits, and the account.'
  }
  if (has(WrongBBANLength, WrongBBANFormat)) {
    return `must be an IBAN of the length and the form that those of ${text.slice(0, 2)} have.`
  }
  return 'must be an IBAN whose check digits are right.'
}
