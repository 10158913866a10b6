/**
 * What the programme's figures should be, written apart from the code that keeps them: a state of plain records, what an
 * operation does to it, and every figure computed anew from all of them. It knows no transfers, differences or counters.
 */

export type Status = 'pending' | 'unpaid' | 'paid' | 'rejected'
export type Type = 'sale' | 'lead' | 'opt-in' | 'refund' | 'write_off'

interface Referral {
  affiliate: number
  type: Type
  status: Status
  amount: number
  /** Which payout paid it. */
  payout: number | undefined
}

interface Payout {
  affiliate: number
  status: 'paid' | 'failed'
  amount: number
  /** What it names, and whether that was a referral when it first did. */
  names: Map<number, boolean>
}

export interface Figures {
  commission: number
  pending: number
  unpaid: number
  reserved: number
  paid_out: number
  external: number
  difference: number
  written_off: number
  /** Of the affiliate's record, while there is one. */
  record: { earnings: number; unpaid_earnings: number; referrals: number } | undefined
}

export type Operation =
  | { do: 'create referral'; affiliate: number; type: Type; status: Status; amount: number }
  | { do: 'edit referral'; referral: number; affiliate?: number; status?: Status; amount?: number }
  | { do: 'delete referral'; referral: number }
  | { do: 'create payout'; affiliate: number; names: number[]; amount?: number; status: 'paid' | 'failed' }
  | {
      do: 'edit payout'
      payout: number
      affiliate: number
      names?: number[]
      amount?: number
      status?: 'paid' | 'failed'
    }
  | { do: 'delete payout'; payout: number }
  | { do: 'delete affiliate'; affiliate: number }

/** The failure that an operation ends in, by the name in the catalogue. */
export type Refusal =
  | 'no_referral'
  | 'no_payout'
  | 'no_affiliate'
  | 'invalid_argument'
  | 'referral_conflict'
  | 'payout_conflict'

class Refused extends Error {
  readonly refusal: Refusal
  constructor(refusal: Refusal) {
    super(refusal)
    this.refusal = refusal
  }
}

const moves: Record<Status, readonly Status[]> = {
  pending: ['unpaid', 'rejected', 'paid'],
  unpaid: ['pending', 'rejected', 'paid'],
  rejected: ['pending', 'unpaid', 'paid'],
  // By hand: what a payout paid stays paid as long as that payout does.
  paid: ['unpaid'],
}

export class Model {
  readonly affiliates = new Map<number, { gone: boolean }>()
  readonly referrals = new Map<number, Referral>()
  readonly payouts = new Map<number, Payout>()

  /**
   * Does it, or says why not; a refused operation leaves everything as it was.
   * @param id of what is created
   */
  apply(operation: Operation, id: number): Refusal | undefined {
    const before = structuredClone([this.referrals, this.payouts] as const)
    try {
      this.#do(operation, id)
      return undefined
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      this.#restore(...before)
      return error.refusal
    }
  }

  figures(affiliate: number): Figures {
    const own = [...this.referrals.values()].filter(referral => referral.affiliate === affiliate)
    const paid = [...this.payouts].filter(([, one]) => one.affiliate === affiliate && one.status === 'paid')
    const sum = (those: (referral: Referral) => boolean) =>
      own.filter(those).reduce((total, { amount }) => total + amount, 0)
    const rests = paid.map(([id, payout]) => this.#restOf(id, payout))
    const restOf = (account: string) =>
      rests.filter(rest => rest.account === account).reduce((total, { amount }) => total + amount, 0)
    const held = (referral: Referral) => referral.status !== 'rejected'
    const isWrittenOff = ({ type }: Referral) => type === 'write_off'
    return {
      commission: 0 - sum(referral => held(referral) && !isWrittenOff(referral)),
      written_off: 0 - sum(referral => held(referral) && isWrittenOff(referral)),
      pending: sum(({ status }) => status === 'pending'),
      unpaid: sum(({ status }) => status === 'unpaid'),
      reserved: 0,
      paid_out: paid.reduce((total, [, { amount }]) => total + amount, 0),
      external: sum(({ status, payout }) => status === 'paid' && payout === undefined) - restOf('external'),
      difference: 0 - restOf('difference'),
      record: this.affiliates.get(affiliate)!.gone
        ? undefined
        : {
            earnings: sum(({ status }) => status === 'paid'),
            unpaid_earnings: sum(({ status }) => status === 'unpaid'),
            referrals: own.filter(
              ({ status, type }) =>
                (status === 'unpaid' || status === 'paid') && type !== 'refund' && type !== 'write_off',
            ).length,
          },
    }
  }

  /** What a paid payout is beyond its known referrals, and where that comes from. */
  #restOf(id: number, { amount, names }: Payout): { account: string; amount: number } {
    const known = [...this.referrals.values()].filter(({ payout }) => payout === id)
    const rest = amount - known.reduce((total, referral) => total + referral.amount, 0)
    const isOfAnotherSystem = names.size === 0 || [...names.values()].includes(false)
    return { account: rest > 0 && isOfAnotherSystem ? 'external' : 'difference', amount: rest }
  }

  #restore(referrals: Map<number, Referral>, payouts: Map<number, Payout>): void {
    for (const [kept, old] of [
      [this.referrals, referrals],
      [this.payouts, payouts],
    ] as [Map<number, unknown>, Map<number, unknown>][]) {
      kept.clear()
      for (const [id, record] of old) kept.set(id, record)
    }
  }

  #do(operation: Operation, id: number): void {
    switch (operation.do) {
      case 'create referral': {
        const { affiliate, type, status, amount } = operation
        this.#refuseUnless(this.#mayEarn(affiliate, type), 'invalid_argument')
        this.referrals.set(id, { affiliate, type, status, amount, payout: undefined })
        return
      }
      case 'edit referral':
        this.#editReferral(operation)
        return
      case 'delete referral': {
        const referral = this.#referral(operation.referral)
        this.#refuseUnless(referral.payout === undefined, 'referral_conflict')
        this.referrals.delete(operation.referral)
        return
      }
      case 'create payout': {
        const { affiliate, status } = operation
        this.#refuseUnless(this.#mayBePaid(affiliate), 'invalid_argument')
        const names = new Map(operation.names.map(name => [name, this.referrals.has(name)]))
        const payout: Payout = { affiliate, status, amount: 0, names }
        const net = this.#pay(id, payout, [...names.keys()])
        this.#refuseUnless(
          net >= 0 || (status === 'failed' && operation.amount !== undefined),
          'payout_conflict',
        )
        payout.amount = operation.amount ?? net
        this.payouts.set(id, payout)
        return
      }
      case 'edit payout':
        this.#editPayout(operation)
        return
      case 'delete payout':
        this.#return(operation.payout)
        this.#refuseUnless(this.payouts.delete(operation.payout), 'no_payout')
        return
      case 'delete affiliate':
        this.#refuseUnless(this.#isThere(operation.affiliate), 'no_affiliate')
        this.affiliates.get(operation.affiliate)!.gone = true
    }
  }

  #editReferral(operation: Extract<Operation, { do: 'edit referral' }>): void {
    const referral = this.#referral(operation.referral)
    const { affiliate = referral.affiliate, status = referral.status, amount = referral.amount } = operation
    const isMoved = affiliate !== referral.affiliate
    if (isMoved) this.#refuseUnless(this.#mayEarn(affiliate, referral.type), 'invalid_argument')
    const isSame =
      affiliate === referral.affiliate && status === referral.status && amount === referral.amount
    this.#refuseUnless(isSame || referral.payout === undefined, 'referral_conflict')
    this.#refuseUnless(
      status === referral.status || moves[referral.status].includes(status),
      'referral_conflict',
    )
    Object.assign(referral, { affiliate, status, amount })
  }

  #editPayout(operation: Extract<Operation, { do: 'edit payout' }>): void {
    const payout = this.payouts.get(operation.payout)
    if (!payout) throw new Refused('no_payout')
    const { affiliate, status = payout.status, amount = payout.amount } = operation
    const isMoved = affiliate !== payout.affiliate
    // What it pays until now counts as unpaid, and is not owed by the edit itself.
    if (isMoved) this.#refuseUnless(this.#mayBePaid(affiliate), 'invalid_argument')
    const names = new Map(
      (operation.names ?? [...payout.names.keys()]).map(name => [
        name,
        payout.names.get(name) ?? this.referrals.has(name),
      ]),
    )
    const added = [...names.keys()].filter(name => !payout.names.has(name))
    const looked = isMoved || (status === 'paid' && payout.status === 'failed') ? [...names.keys()] : added
    const kept = [...names.keys()].filter(name => this.referrals.get(name)?.payout === operation.payout)
    this.#return(operation.payout)
    Object.assign(payout, { affiliate, status, amount, names })
    const net = this.#pay(operation.payout, payout, [...new Set([...looked, ...kept])])
    this.#refuseUnless(net >= 0 || status === 'failed', 'payout_conflict')
  }

  /**
   * Looks whether what it names can be paid by it, and pays what it knows where it is paid.
   * @param looked which of its names are looked at
   * @returns what they come to
   */
  #pay(id: number, { affiliate, status, names }: Payout, looked: number[]): number {
    let net = 0
    for (const name of looked) {
      if (!names.get(name)) continue
      const referral = this.referrals.get(name)
      const payable =
        referral !== undefined &&
        referral.affiliate === affiliate &&
        (referral.status === 'unpaid' || (referral.status === 'paid' && referral.payout === undefined))
      if (!payable) throw new Refused('payout_conflict')
      net += referral.amount
      if (status === 'paid') Object.assign(referral, { status, payout: id })
    }
    return net
  }

  #return(payout: number): void {
    for (const referral of this.referrals.values()) {
      if (referral.payout === payout) Object.assign(referral, { status: 'unpaid', payout: undefined })
    }
  }

  #isThere(affiliate: number): boolean {
    return this.affiliates.get(affiliate)?.gone === false
  }

  /** What is open with a deleted affiliate can be written off, either way. */
  #mayEarn(affiliate: number, type: Referral['type']): boolean {
    if (this.#isThere(affiliate)) return true
    return type === 'write_off' && this.affiliates.has(affiliate) && this.figures(affiliate).unpaid !== 0
  }

  #mayBePaid(affiliate: number): boolean {
    return this.#isThere(affiliate) || (this.affiliates.has(affiliate) && this.figures(affiliate).unpaid > 0)
  }

  #referral(id: number): Referral {
    const referral = this.referrals.get(id)
    if (!referral) throw new Refused('no_referral')
    return referral
  }

  #refuseUnless(condition: boolean, refusal: Refusal): void {
    if (!condition) throw new Refused(refusal)
  }
}
