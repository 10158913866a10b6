/** What a list of accounts is narrowed by, as it is kept. */
import { foldCase, parseSearch } from '../../base/text.ts'
import type { Database } from '../../storage/database.ts'
import { withCandidates } from '../../storage/search-index.ts'
import type { FilterArguments } from './schema.ts'
import type { Criteria } from './store.ts'
import { usersTable } from './table.ts'

/** @param goal all accounts that match, or the first ones in the order of a list */
export async function criteriaOf(
  { engine, reader }: Database,
  { user_id, exclude, login, role, search }: FilterArguments,
  goal: 'all' | 'first',
): Promise<Criteria> {
  return {
    ...(user_id?.length && { ids: user_id }),
    ...(exclude?.length && { excluded: exclude }),
    ...(login?.length && { loginKeys: login.map(foldCase) }),
    ...(role?.length && { roles: role }),
    ...(search && {
      search: await withCandidates(engine, reader, usersTable, parseSearch(search), goal),
    }),
  }
}
