/** What is true of groups: each has a name of its own, and none goes while it is in use. */
import { Failure } from '../../base/errors.ts'
import { joined, type RequestContext, write } from '../../events/write.ts'
import { plainRules, refusingTwo } from '../../records/rules.ts'
import { ReferenceViolation } from '../../storage/database.ts'
import { group } from './group.ts'
import * as store from './store.ts'

const plain = plainRules(group, store.groups)

export const rules = { ...refusingTwo(plain, 'group_exists'), remove }

/** @throws Failure no_group, group_in_use */
async function remove(context: RequestContext, id: number) {
  try {
    return await write(context, async tx => {
      if (await store.isInUse(tx, id)) throw new Failure('group_in_use')
      return plain.remove(joined(context, tx), id)
    })
  } catch (cause) {
    // An affiliate has joined it a moment ago.
    if (cause instanceof ReferenceViolation) throw new Failure('group_in_use')
    throw cause
  }
}
