/** Rules for groups: names are unique, and a group in use cannot be deleted. */
import { Failure } from '../../base/errors.ts'
import { inTransaction, type RequestContext, write } from '../../events/write.ts'
import { existing, plainRules, refusingTwo } from '../../records/rules.ts'
import { group } from './group.ts'
import * as store from './store.ts'

const plain = plainRules(group, store.groups)

export const rules = { ...refusingTwo(plain, 'group_exists'), remove }

/** @throws Failure no_group, group_in_use, record_in_use */
async function remove(context: RequestContext, id: number) {
  return write(context, async tx => {
    // From now on no affiliate can join it.
    existing(group, await store.groups.lock(tx, id))
    if (await store.isInUse(tx, id)) throw new Failure('group_in_use')
    return plain.remove(inTransaction(context, tx), id)
  })
}
