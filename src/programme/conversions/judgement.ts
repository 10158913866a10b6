/** What was earned exactly, as it stands with a referral: enough to say at any time what is left of it. */
import { type Fraction, fraction } from '../../base/fraction.ts'
import { type Judgement, type Part, totalOf } from '../commission/engine.ts'

interface Stored {
  readonly parts: readonly Part[]
  /** What one minor unit of the sale's currency is in that of the programme's; null when there was no rate. */
  readonly exchange: Fraction | null
}

const isFraction = (value: object): value is Fraction => 'numerator' in value && 'denominator' in value

/** Fractions as 'numerator/denominator'. */
export function judgementText(parts: readonly Part[], exchange: Fraction | null): string {
  return JSON.stringify({ parts, exchange }, (_name, value) =>
    typeof value === 'object' && value !== null && isFraction(value)
      ? `${value.numerator}/${value.denominator}`
      : value,
  )
}

const FRACTION = /^(-?\d+)\/(\d+)$/
const fractional: ReadonlySet<string> = new Set(['base', 'earned', 'exchange'])

function parseJudgement(text: string): Stored {
  return JSON.parse(text, (name, value) => {
    const [, numerator, denominator] = fractional.has(name) ? (FRACTION.exec(value) ?? []) : []
    return numerator === undefined ? value : fraction(BigInt(numerator), BigInt(denominator!))
  })
}

/** What is earned by what is left, in the minor unit of the programme's currency; nothing where there is no rate. */
export function earnedOf(text: string, left: Fraction): Judgement {
  const { parts, exchange } = parseJudgement(text)
  return totalOf(parts, exchange, left)
}
