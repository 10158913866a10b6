/** The settings as rules use them. */
export interface Settings {
  /** In ten-thousandths. */
  readonly defaultRate: number
  readonly defaultRateType: string
  readonly rateTypes: readonly string[]
  readonly currency: string
  /** Decimals of the currency's minor unit. */
  readonly decimals: number
  /** Another one after each change of the commission rules; '' before the first. */
  readonly rulesVersion: string
  readonly tracking: TrackingSettings
  readonly payouts: PayoutSettings
  readonly earning: EarningSettings
}

/** How payout runs are approved, and who pays. */
export interface PayoutSettings {
  /** How many persons a run takes: with two, who prepared it can't approve it. */
  readonly approval: 'one' | 'two'
  /** How long changed payment details wait before they are used. */
  readonly detailsDays: number
  /** As the files of banks name the payer; each is '' when it is not set. */
  readonly name: string
  readonly iban: string
  readonly bic: string
  readonly bank: string
  readonly routing: string
  readonly companyId: string
}

/** What referrals and payouts may say. */
export interface EarningSettings {
  /** Whether no two referrals of an affiliate have the same context, reference and type. */
  readonly uniqueReferences: boolean
  /** What becomes of what a payout names that is no referral here. */
  readonly unknownReferrals: 'keep' | 'refuse'
}

/** How visitors are led to the shop, and how long it is remembered who brought them. */
export interface TrackingSettings {
  /** The page of the shop that links lead to when they name no other; '' when there is none. */
  readonly page: string
  /** Hosts that links may lead to beside that of the page: shop.example, shop.example:8443, *.shop.example. */
  readonly hosts: readonly string[]
  /** Which click a sale is credited to. */
  readonly attribution: 'last' | 'first'
  /** How long after a click. */
  readonly attributionDays: number
  /** How long visits are kept one by one. */
  readonly visitDays: number
  /** Whether the script waits until the visitor has consented. */
  readonly consentRequired: boolean
}
