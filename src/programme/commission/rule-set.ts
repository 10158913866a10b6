/**
 * The current rules, prepared once after each change: in trial order, and indexed by the values of their conditions, so
 * that a thousand rules cost a sale little more than one.
 */
import { compared, type Fraction, fraction, ONE, plus, whole, ZERO } from '../../base/fraction.ts'
import {
  type Condition,
  definitions,
  type Field,
  foldedValues,
  isLineField,
  isText,
  isTier,
  limitsOf,
  type NumberField,
  numberOf,
  numberTest,
  type Subject,
  type TextCondition,
  type TextField,
  textsOf,
  textTest,
} from './conditions.ts'
import { type Limited, Limits } from './limits.ts'
import type { Rule, Scope } from './model.ts'
import type { Earner, Sale } from './sale.ts'

/** The lines of a sale that a rule applies to, and their share of the sale's amount. */
export interface Match {
  /** Null if no rule applies. */
  readonly rule: Rule | null
  readonly lines: readonly number[]
  readonly share: Fraction
}

/** What conditions are checked against: of a sale, or of one line. Each is looked up when the first rule asks for it. */
class Facts {
  readonly subject: Subject
  readonly #texts = new Map<TextField, readonly string[]>()
  readonly #numbers = new Map<NumberField, Fraction | null>()

  constructor(subject: Subject) {
    this.subject = subject
  }

  text(field: TextField): readonly string[] {
    return looked(this.#texts, field, () => textsOf(field, this.subject))
  }

  /** Null when it is not known. */
  number(field: NumberField): Fraction | null {
    return looked(this.#numbers, field, () => numberOf(field, this.subject))
  }
}

function looked<K, V>(known: Map<K, V>, key: K, look: () => V): V {
  const value = known.get(key)
  if (value !== undefined) return value
  const found = look()
  known.set(key, found)
  return found
}

/** Why a rule does not apply: a field of the rule, or one of its conditions. */
export type Obstacle = 'kinds' | 'from' | 'until' | Condition

interface Test {
  readonly of: Obstacle
  passes(facts: Facts): boolean
}

interface Entry {
  readonly rule: Rule
  readonly place: number
  readonly tests: readonly Test[]
}

/** The result of trying a rule. */
export interface Trial {
  readonly rule: Rule
  /** Undefined if it applies. */
  readonly obstacle: Obstacle | undefined
}

export class RuleSet {
  readonly #ofAffiliates: ReadonlyMap<number, Index>
  readonly #ofGroups: ReadonlyMap<number, Index>
  readonly #ofProgramme: Index
  readonly #byName: ReadonlyMap<string, Entry>
  /** Every condition that some rule has; the facts of others need not be looked up. */
  readonly #asked: readonly Field[]
  /** Whether some rule cannot be tried while there is no exchange rate. */
  readonly #asksForExchange: boolean

  /**
   * @param rules the current ones, in any order
   * @param decimals of the programme's currency
   */
  constructor(rules: readonly Rule[], decimals: number) {
    const sorted = [...rules].sort((a, b) => a.priority - b.priority || a.series - b.series)
    const entries = sorted.map((rule, place) => ({ rule, place, tests: testsOf(rule, decimals) }))
    const indexOf = (key: 'affiliateId' | 'groupId', scope: Scope) => {
      const scoped = entries.filter(({ rule }) => rule.scope === scope)
      return new Map(
        [...Map.groupBy(scoped, ({ rule }) => rule[key]!)].map(([id, of]) => [id, new Index(of, decimals)]),
      )
    }
    this.#ofAffiliates = indexOf('affiliateId', 'affiliate')
    this.#ofGroups = indexOf('groupId', 'group')
    const ofProgramme = entries.filter(({ rule }) => rule.scope === 'programme')
    this.#ofProgramme = new Index(ofProgramme, decimals)
    this.#byName = new Map(entries.toReversed().map(entry => [entry.rule.name, entry]))
    this.#asked = [...new Set(rules.flatMap(({ conditions }) => conditions.map(({ field }) => field)))]
    this.#asksForExchange = this.#asked.some(needsExchange)
  }

  /** Whether any rule depends on the affiliate's sales so far. */
  get asksForTiers(): boolean {
    return this.#asked.some(isTier)
  }

  /** Whether any of the affiliate's, of their group or of the programme does. */
  asksForTiersOf(earner: Pick<Earner, 'id' | 'groupId'>): boolean {
    return this.#indexesFor(earner).some(index => index.asksForTiers)
  }

  /** The first matching rule for the sale, or for each line of it if rules have conditions on products. */
  match(sale: Sale, earner: Earner, exchange: Fraction | null): readonly Match[] | 'no_exchange_rate' {
    const indexes = this.#indexesFor(earner)
    const first = exchange === null && this.#asksForExchange ? firstWithoutExchange : firstIn
    const ofSale = ofWholeSale(sale, earner, exchange)
    const byLine = sale.lines.length > 0 && indexes.some(index => index.asksForLines)
    const subjects = byLine
      ? sale.lines.map(line => new Facts({ ...ofSale.subject, lines: [line] }))
      : [ofSale]
    const rules: (Rule | null)[] = []
    for (const facts of subjects) {
      const rule = first(indexes, facts)
      if (rule === 'no_exchange_rate') return rule
      rules.push(rule)
    }
    const byRule = [...Map.groupBy(rules.keys(), place => rules[place] ?? null)]
    if (byRule.length === 1) return [{ rule: byRule[0]![0], lines: [], share: ONE }]
    return byRule.map(([rule, places]) => ({ rule, lines: places, share: shareOf(sale, places) }))
  }

  /**
   * The rule that a rate type names, if it applies.
   * @param places indexes of the lines that it is for; empty for the whole sale, of which one line has to match
   */
  named(
    name: string,
    sale: Sale,
    earner: Earner,
    { exchange, places = [] }: { exchange: Fraction | null; places?: readonly number[] | undefined },
  ): Rule | 'no_rule' | 'no_exchange_rate' {
    const entry = this.#byName.get(name)
    if (!entry) return 'no_rule'
    const isMissing = exchange === null && entry.tests.some(isOfExchange)
    const tests = isMissing ? entry.tests.filter(test => !isOfExchange(test)) : entry.tests
    const whole = ofWholeSale(sale, earner, exchange)
    const applies = (facts: Facts) => tests.every(test => test.passes(facts))
    const isFor =
      places.length === 0
        ? applies(whole)
        : places.every(place => applies(new Facts({ ...whole.subject, lines: [sale.lines[place]!] })))
    if (!isFor) return 'no_rule'
    return isMissing ? 'no_exchange_rate' : entry.rule
  }

  /** The rules tried for the affiliate, in order, up to the one that applies. */
  *trials(sale: Sale, earner: Earner, exchange: Fraction | null): Generator<Trial> {
    const facts = ofWholeSale(sale, earner, exchange)
    for (const index of this.#indexesFor(earner)) {
      for (const { rule, tests } of index.entries) {
        const obstacle = tests.find(test => !test.passes(facts))?.of
        yield { rule, obstacle }
        if (obstacle === undefined) return
      }
    }
  }

  #indexesFor({ id, groupId }: Pick<Earner, 'id' | 'groupId'>): Index[] {
    const ofAffiliate = this.#ofAffiliates.get(id)
    const ofGroup = groupId === null ? undefined : this.#ofGroups.get(groupId)
    return [ofAffiliate, ofGroup, this.#ofProgramme].filter(index => index !== undefined)
  }
}

/** Index by value, or by numeric limits, so that only rules that may apply are tried. */
class Index {
  readonly entries: readonly Entry[]
  readonly asksForLines: boolean
  readonly asksForTiers: boolean
  readonly #others: Entry[] = []
  readonly #byValue = new Map<TextField, Map<string, Entry[]>>()
  readonly #byNumber: ReadonlyMap<NumberField, Limits<Entry>>

  /** @param decimals of the programme's currency */
  constructor(entries: readonly Entry[], decimals: number) {
    this.entries = entries
    const asked = entries.flatMap(({ rule }) => rule.conditions.map(({ field }) => field))
    this.asksForLines = asked.some(isLineField)
    this.asksForTiers = asked.some(isTier)
    const limited = new Map<NumberField, Limited<Entry>[]>()
    for (const entry of entries) {
      const { conditions } = entry.rule
      const text = conditions.filter(isText).find(({ is }) => is !== undefined)
      const number = conditions.find(condition => !isText(condition))
      if (text) this.#addByValue(entry, text)
      else if (!number) this.#others.push(entry)
      else {
        const of = limited.get(number.field) ?? []
        of.push({ entry, ...limitsOf(number, decimals) })
        limited.set(number.field, of)
      }
    }
    this.#byNumber = new Map([...limited].map(([field, of]) => [field, new Limits(of)]))
  }

  #addByValue(entry: Entry, { field, is = [] }: TextCondition): void {
    const byValue = this.#byValue.get(field) ?? new Map<string, Entry[]>()
    this.#byValue.set(field, byValue)
    for (const value of new Set(foldedValues(is))) {
      byValue.set(value, [...(byValue.get(value) ?? []), entry])
    }
  }

  first(facts: Facts): Rule | undefined {
    let first = firstOf(this.#others, facts, undefined)
    for (const [field, byValue] of this.#byValue) {
      for (const value of facts.text(field)) first = firstOf(byValue.get(value) ?? [], facts, first)
    }
    for (const [field, limits] of this.#byNumber) {
      const value = facts.number(field)
      if (value === null) continue
      for (const byLimit of limits.taking(value)) first = firstOf(byLimit, facts, first)
    }
    return first?.rule
  }
}

function firstOf(entries: readonly Entry[], facts: Facts, best: Entry | undefined): Entry | undefined {
  for (const entry of entries) {
    if (best && entry.place > best.place) return best
    if (entry.tests.every(test => test.passes(facts))) return entry
  }
  return best
}

function firstIn(indexes: readonly Index[], facts: Facts): Rule | null {
  for (const index of indexes) {
    const rule = index.first(facts)
    if (rule) return rule
  }
  return null
}

/** The same without an exchange rate: unknown if a rule that comes before asks for it, and applies in all else. */
function firstWithoutExchange(indexes: readonly Index[], facts: Facts): Rule | null | 'no_exchange_rate' {
  for (const { rule, tests } of indexes.flatMap(({ entries }) => entries)) {
    if (!tests.every(test => isOfExchange(test) || test.passes(facts))) continue
    return tests.some(isOfExchange) ? 'no_exchange_rate' : rule
  }
  return null
}

function testsOf({ kinds, conditions, from, until }: Rule, decimals: number): Test[] {
  return [
    ...(kinds.length > 0
      ? [{ of: 'kinds', passes: ({ subject }: Facts) => kinds.includes(subject.sale.kind) } as const]
      : []),
    ...(from !== null
      ? [{ of: 'from', passes: ({ subject }: Facts) => subject.sale.occurredAt >= from } as const]
      : []),
    ...(until !== null
      ? [{ of: 'until', passes: ({ subject }: Facts) => subject.sale.occurredAt <= until } as const]
      : []),
    ...conditions.map(condition => testOf(condition, decimals)),
  ]
}

function testOf(condition: Condition, decimals: number): Test {
  if (isText(condition)) {
    const { field } = condition
    const test = textTest(condition)
    return { of: condition, passes: facts => test(facts.text(field)) }
  }
  const { field } = condition
  const test = numberTest(condition, decimals)
  return {
    of: condition,
    passes: facts => {
      const value = facts.number(field)
      return value !== null && test(value)
    },
  }
}

const isOfExchange = ({ of }: Test) => typeof of !== 'string' && needsExchange(of.field)

const needsExchange = (field: Field) => definitions[field].needsExchange === true

/** The whole sale as one line, for rules that are not found by their lines. */
const ofWholeSale = (sale: Sale, earner: Earner, exchange: Fraction | null) =>
  new Facts({ sale, earner, lines: sale.lines, exchange: exchange ?? ONE })

/** These lines' share of the sale's amount; by their number if no line costs anything. */
function shareOf({ lines }: Sale, places: readonly number[]): Fraction {
  const sum = lines.reduce((sum, { amount }) => plus(sum, whole(amount)), ZERO)
  if (compared(sum, ZERO) === 0) return fraction(BigInt(places.length), BigInt(lines.length))
  const chosenAmount = places.reduce((own, place) => plus(own, whole(lines[place]!.amount)), ZERO)
  return fraction(chosenAmount.numerator, sum.numerator)
}
