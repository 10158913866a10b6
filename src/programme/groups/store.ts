/** Queries specific to groups: members. */
import { storeOf } from '../../records/store.ts'
import type { Db } from '../../storage/database.ts'
import { group } from './group.ts'

export const groups = storeOf(group)

/** Whether it has members, or a current rule is for it. */
export async function isInUse(db: Db, id: number): Promise<boolean> {
  const [affiliate, rule] = [
    await db.selectFrom('affiliates').select('id').where('group_id', '=', id).limit(1).execute(),
    await db
      .selectFrom('rules')
      .select('id')
      .where('group_id', '=', id)
      .where('status', '=', 'current')
      .limit(1)
      .execute(),
  ]
  return affiliate.length + rule.length > 0
}
