/** The settings, as rules use them. */
export interface Settings {
  /** In ten-thousandths. */
  readonly defaultRate: number
  readonly defaultRateType: string
  readonly rateTypes: readonly string[]
  readonly currency: string
  /** Number of decimals of the currency. */
  readonly decimals: number
  /** Changes with every change of the commission rules; '' before the first. */
  readonly rulesVersion: string
  readonly tracking: TrackingSettings
  readonly payouts: PayoutSettings
  readonly earning: EarningSettings
}

/** Approval of payout runs, and the payer's details. */
export interface PayoutSettings {
  /** Number of people a run needs: with 'two', whoever prepared it cannot approve it. */
  readonly approval: 'one' | 'two'
  /** Waiting period before changed payment details are used. */
  readonly detailsDays: number
  /** The payer, as named in bank files; each is '' when it is not set. */
  readonly name: string
  readonly iban: string
  readonly bic: string
  readonly bank: string
  readonly routing: string
  readonly companyId: string
}

/** Validation of referrals and payouts. */
interface EarningSettings {
  /** Whether context, reference and type together must be unique among an affiliate's referrals. */
  readonly uniqueReferences: boolean
  /** What to do with identifiers in a payout that are not referrals of this service. */
  readonly unknownReferrals: 'keep' | 'refuse'
}

/** Where visitors are sent, and how long clicks count. */
export interface TrackingSettings {
  /** The shop's page that links lead to unless they name another one; '' when there is none. */
  readonly page: string
  /** Where visitors reach the links and the script; '' where they do as the administration area does. */
  readonly visitorUrl: string
  /** Hosts that links may lead to beside that of the page: shop.example, shop.example:8443, *.shop.example. */
  readonly hosts: readonly string[]
  /** The click that gets the credit for a sale. */
  readonly attribution: 'last' | 'first'
  /** How long a click counts. */
  readonly attributionDays: number
  /** How long individual visits are kept. */
  readonly visitDays: number
  /** Whether the script waits for the visitor's consent. */
  readonly consentRequired: boolean
}
