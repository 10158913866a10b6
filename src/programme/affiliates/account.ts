import type { Change } from '../../events/append.ts'
import { personOfDeleted } from '../../events/read.ts'
import type { WriteTx } from '../../events/write.ts'
import type { Tx } from '../../storage/database.ts'
import { affiliates } from './store.ts'

/** The account of an affiliate, also of a deleted one: events that hold words about the affiliate are erased with it. */
async function accountOf(tx: Tx, id: number): Promise<number | null> {
  const affiliate = await affiliates.find(tx, id)
  return affiliate?.user_id ?? (await personOfDeleted(tx, 'affiliate', id))
}

/** A record that says something of its affiliate, in the field `N`. */
type Telling<N extends string> = Readonly<Record<N, string>> & { readonly affiliate_id: number }

interface Sides<N extends string> {
  readonly before?: Telling<N> | undefined
  readonly after?: Telling<N> | undefined
}

/** Names in an event whom the words in a field are about, so that they are erased with them. */
export async function aboutWhom<N extends string>(
  tx: Tx,
  name: N,
  { before, after }: Sides<N>,
): Promise<Pick<Change, 'person' | 'formerPerson'>> {
  const [former, latter] = [before, after].map(side => (side?.[name] ? side : undefined))
  if ((former?.[name] ?? '') === (latter?.[name] ?? '')) return {}
  const person = await accountOf(tx, (latter ?? former)!.affiliate_id)
  if (!former || !latter || former.affiliate_id === latter.affiliate_id) return { person }
  return { person, formerPerson: await accountOf(tx, former.affiliate_id) }
}

/**
 * The same for a change whose event has a reserved identifier: where the record passes from one person to another, the end
 * of what was said of the first takes it, since who reads the log has to meet that before.
 * @returns with the identifier of the event of the change
 */
export async function aboutWhomBy<N extends string>(
  tx: WriteTx,
  name: N,
  sides: Sides<N>,
  reserved: number,
): Promise<Pick<Change, 'person' | 'formerPerson' | 'formerEvent'> & { readonly event: number }> {
  const about = await aboutWhom(tx, name, sides)
  if (!about.formerPerson) return { ...about, event: reserved }
  return { ...about, formerEvent: reserved, event: await tx.reserveEvent() }
}
