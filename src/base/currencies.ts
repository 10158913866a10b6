/** Active currencies (ISO 4217, list one), by the decimals of their minor unit. */
const byDecimals: Record<number, string> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF',
  2: `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC
      CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR
      JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD
      NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN
      SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG`,
  3: 'BHD IQD JOD KWD LYD OMR TND',
}

const decimalsByCode = new Map(
  Object.entries(byDecimals).flatMap(([decimals, codes]) =>
    codes.split(/\s+/).map(code => [code, Number(decimals)] as const),
  ),
)

/** Codes of all active currencies, in alphabetical order. */
export const currencies: readonly string[] = [...decimalsByCode.keys()].sort()

/** What a code is, in messages. */
export const CURRENCY_CODE = 'the ISO 4217 code of a currency in use, such as EUR'
export const NO_CURRENCY = `must be ${CURRENCY_CODE}.`

/** Validation message for a code, in any case of letters. */
export const problemOfCurrencyCode = (code: string): string | undefined =>
  decimalsOf(code.toUpperCase()) === undefined ? NO_CURRENCY : undefined

const symbolsByCode = new Map<string, readonly string[]>()

/** Whether a code or a symbol, in capital letters, is one of the currency. Several share one such as $. */
export function isNameOfCurrency(name: string, currency: string): boolean {
  if (name === currency) return true
  const symbols = symbolsByCode.get(currency) ?? symbolsOf(currency)
  symbolsByCode.set(currency, symbols)
  return symbols.includes(name)
}

/** Such as $ and US$. */
function symbolsOf(currency: string): string[] {
  const [symbol, narrow] = (['symbol', 'narrowSymbol'] as const).map(currencyDisplay => {
    const format = new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay })
    return format
      .formatToParts(0)
      .find(({ type }) => type === 'currency')!
      .value.toUpperCase()
  })
  return [symbol!, narrow!, currency.slice(0, 2) + narrow]
}

/** @returns undefined if the code is not that of an active currency */
export function decimalsOf(currency: string): number | undefined {
  return decimalsByCode.get(currency)
}
