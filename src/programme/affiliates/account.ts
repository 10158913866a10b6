import type { Change } from '../../events/append.ts'
import { personOfDeleted } from '../../events/read.ts'
import type { Tx } from '../../storage/database.ts'
import { affiliates } from './store.ts'

/** The account of an affiliate, also of a deleted one: events that hold words about the affiliate are erased with it. */
async function accountOf(tx: Tx, id: number): Promise<number | null> {
  const affiliate = await affiliates.find(tx, id)
  return affiliate?.user_id ?? (await personOfDeleted(tx, 'affiliate', id))
}

/** A record that says something of its affiliate, in the field `N`. */
type Telling<N extends string> = Readonly<Record<N, string>> & { readonly affiliate_id: number }

/** Names in an event whom the words in a field are about, so that they are erased with them. */
export async function aboutWhom<N extends string>(
  tx: Tx,
  name: N,
  { before, after }: { readonly before?: Telling<N> | undefined; readonly after?: Telling<N> | undefined },
): Promise<Pick<Change, 'person' | 'formerPerson'>> {
  const [former, latter] = [before, after].map(side => (side?.[name] ? side : undefined))
  if ((former?.[name] ?? '') === (latter?.[name] ?? '')) return {}
  const person = await accountOf(tx, (latter ?? former)!.affiliate_id)
  if (!former || !latter || former.affiliate_id === latter.affiliate_id) return { person }
  return { person, formerPerson: await accountOf(tx, former.affiliate_id) }
}
