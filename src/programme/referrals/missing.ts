/** Checks that the records exist that the arguments of a referral refer to. */
import type { Problems } from '../../base/errors.ts'
import { noSuch } from '../../records/store.ts'
import type { Db } from '../../storage/database.ts'
import { affiliates } from '../affiliates/store.ts'
import { customers } from '../customers/store.ts'
import { owedTo } from '../ledger/rules.ts'
import { visits } from '../visits/store.ts'
import type { Referral } from './referral.ts'
import type { CreateArguments } from './schema.ts'
import * as store from './store.ts'

/** The referral that is edited. Its own affiliate may have been deleted. */
export type Before = Pick<Referral, 'affiliate_id' | 'amount' | 'status' | 'type'> &
  Partial<Links & Pick<Referral, 'id' | 'conversion_id'>>

/** A problem for each argument that refers to a record that does not exist. */
export async function missingIn(db: Db, args: Partial<CreateArguments>, before?: Before): Promise<Problems> {
  const { affiliate_id, type = before?.type ?? 'sale' } = args
  const isOther = affiliate_id !== undefined && affiliate_id !== before?.affiliate_id
  const [isKnown, links] = await Promise.all([
    !isOther || affiliates.isThere(db, affiliate_id),
    problemsOfLinks(db, args, before),
  ])
  const isUnknown = isOther && !isKnown && !(await canWriteOff(db, affiliate_id, type))
  return {
    ...(isUnknown && { affiliate_id: noSuch('affiliate') }),
    ...links,
  }
}

/** Whether a deleted affiliate is still owed something, which can only be written off. */
async function canWriteOff(db: Db, affiliateId: number, type: Referral['type']): Promise<boolean> {
  return type === 'write_off' && (await owedTo(db, affiliateId)) !== 0n
}

/** What a referral may refer to besides its affiliate. */
type Links = Pick<Referral, 'visit_id' | 'customer_id' | 'parent_id'>

/** Visits are stored for a limited time, and customers may be deleted: an identifier that existed once is accepted. */
async function problemsOfLinks(
  db: Db,
  args: Partial<Links>,
  before: Partial<Links & Pick<Referral, 'id' | 'conversion_id'>> = {},
): Promise<Problems> {
  const targets = {
    visit_id: [visits.reaches, 'visit'],
    customer_id: [customers.reaches, 'customer'],
    parent_id: [store.referrals.exists, 'referral'],
  } as const
  const changedNames = (['visit_id', 'customer_id', 'parent_id'] as const).filter(
    name => args[name] && args[name] !== before[name],
  )
  const problems = await Promise.all(
    changedNames.map(async name => {
      const [isThere, target] = targets[name]
      return (await isThere(db, args[name]!)) ? {} : { [name]: noSuch(target, { orNone: true }) }
    }),
  )
  // The `parent_id` of a referral of a conversion cannot change at all (`decide`).
  const isUnderItself =
    args.parent_id &&
    before.id !== undefined &&
    !before.conversion_id &&
    (await isUnder(db, args.parent_id, before.id))
  return Object.assign(
    isUnderItself ? { parent_id: 'must be neither the referral itself nor one below it.' } : {},
    ...problems,
  )
}

/** Chains are much shorter: a refund of a refund has two parents. */
const MOST_PARENTS = 100

/** Whether a referral is another one, or below it. */
async function isUnder(db: Db, id: number, above: number): Promise<boolean> {
  for (let [at, steps] = [id, 0]; at !== 0 && steps < MOST_PARENTS; steps += 1) {
    if (at === above) return true
    at = (await store.referrals.find(db, at))?.parent_id ?? 0
  }
  return false
}
