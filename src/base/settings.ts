/** The settings as rules use them. */
export interface Settings {
  /** In ten-thousandths. */
  readonly defaultRate: number
  readonly defaultRateType: string
  readonly rateTypes: readonly string[]
  readonly currency: string
  /** Decimals of the currency's minor unit. */
  readonly decimals: number
}
