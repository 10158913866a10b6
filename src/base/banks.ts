/** Account and bank numbers, as far as they can be checked offline. */
import { isSEPACountry, isValidBIC, ValidationErrorsIBAN, validateIBAN } from 'ibantools'

/** An IBAN, a BIC or a routing number as it is stored: people write them in groups, and in small letters. */
export const compactCode = (text: string): string => text.replaceAll(' ', '').toUpperCase()

/**
 * Of the area of SEPA, beside those that the library knows (EPC409-09): who has joined since 2024, and territories, whose banks
 * have BICs of their own.
 */
const MORE_OF_SEPA = [
  'AL',
  'MD',
  'ME',
  'MK',
  'RS',
  'BL',
  'GF',
  'GG',
  'GP',
  'IM',
  'JE',
  'MF',
  'MQ',
  'PM',
  'RE',
  'YT',
]

const isInSepa = (country: string) => isSEPACountry(country) || MORE_OF_SEPA.includes(country)

/**
 * @param account an IBAN, or the readable part of one, which begins with its country
 * @returns why a bank would refuse a SEPA file with it, or undefined
 */
export function outsideSepa(account: string): string | undefined {
  const country = account.slice(0, 2)
  return isInSepa(country) ? undefined : `${country} is no country of SEPA: a bank refuses the file.`
}

/**
 * Checks a BIC (ISO 9362: bank, country, location and optional branch), which a SEPA file may name.
 * @returns the problem, or undefined if there is none
 */
export function bicProblem(text: string): string | undefined {
  if (!isValidBIC(text)) return 'must be a BIC of 8 or 11 characters, or empty.'
  const country = text.slice(4, 6)
  return isInSepa(country) ? undefined : `must be the BIC of a bank in SEPA: ${outsideSepa(country)}`
}

/** Of a routing number as people write it. */
export const MOST_ROUTING = 20

/** ABA routing number: the ninth digit is a checksum with the weights 3, 7 and 1. */
export function isRouting(text: string): boolean {
  if (!/^\d{9}$/.test(text)) return false
  const sum = [...text].reduce((sum, digit, index) => sum + Number(digit) * [3, 7, 1][index % 3]!, 0)
  return sum % 10 === 0 && text !== '000000000'
}

/**
 * Checks an IBAN against ISO 13616 and the format of its country, which must be one of SEPA. Expects capital letters and no spaces.
 * @returns the problem, or undefined if there is none
 */
export function ibanProblem(text: string): string | undefined {
  const { valid, errorCodes } = validateIBAN(text)
  if (valid) {
    const outside = outsideSepa(text)
    return outside && `must be the IBAN of an account in SEPA: ${outside}`
  }
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
