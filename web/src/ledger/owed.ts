/** Balances of an affiliate, for forms that show the effect of unsaved input. */
import { useQuery } from '@tanstack/react-query'
import { type RaRecord, useRecordContext } from 'react-admin'
import type { Account } from '../../../src/programme/ledger/holdings.ts'
import { get } from '../api.ts'
import { changes, differencesIn } from '../contested.ts'
import type { Sum } from '../payouts/payout.ts'
import { unitsOf } from '../payouts/sum.ts'
import { useAfterRefusal } from '../ui/form.tsx'
import { useMoney } from '../ui/format.ts'
import type { RecordPages } from '../ui/pages.ts'

export type BalancesRecord = Record<Account, Sum>

const balancesOf = (affiliateId: number, query = '') =>
  get<BalancesRecord>(`affiliates/${affiliateId}/balances${query && `?${query}`}`)

/** @param query selects a past date; empty means now */
export const useBalances = (affiliateId: number, query = '') =>
  useQuery({
    queryKey: ['affiliates', affiliateId, 'balances', query],
    queryFn: () => balancesOf(affiliateId, query),
    placeholderData: before => before,
    enabled: affiliateId > 0,
  })

type Values = Readonly<Record<string, unknown>>

/**
 * What is owed to an affiliate now, and the record that a form changes as it is now: what is owed after the change is
 * computed from both. They are read together, and again when somebody comes back to the tab, or saving was refused.
 * @param readFurther what is needed beside them, of the same time
 * @returns undefined until it is read
 */
export function useOwedWith<R extends RaRecord<number>, Further = undefined>(
  of: RecordPages,
  affiliateId: number,
  readFurther?: () => Promise<Further>,
) {
  const { resource, together = [] } = of
  const { decimals } = useMoney()
  const opened = useRecordContext<R>()
  const before = opened?.id ? opened : undefined
  const { data, error, refetch } = useQuery({
    // What it is compared with belongs to it: a record that was changed here is no other person's change.
    queryKey: ['owed', resource, affiliateId, before?.id, together.map(name => before?.[name])],
    queryFn: async () => {
      const [balances, now, further] = await atOneTime(() =>
        Promise.all([balancesOf(affiliateId), before && get<R>(`${resource}/${before.id}`), readFurther?.()]),
      )
      const differences = before && now ? await differencesIn(of, now, before) : []
      return { before, balances, now, further, differences }
    },
    // While it is read again, what is said of the affiliate stays.
    placeholderData: (last, query) => (query?.queryKey[2] === affiliateId ? last : undefined),
    enabled: affiliateId > 0,
    staleTime: 0,
    gcTime: 0,
  })
  useAfterRefusal(async () => affiliateId > 0 && refetch())
  if (!data || error) return undefined
  const { before: compared, balances, ...rest } = data
  const reserved = unitsOf(balances.reserved, decimals)!
  const changedIn = (typed: Values) => changes(typed, compared ?? {})
  return {
    ...rest,
    owed: unitsOf(balances.unpaid, decimals)! + reserved,
    /** Part of it: what an approved payout run pays. */
    reserved,
    /** Of the fields that decide together, those that the form changes. */
    changedIn,
    /** What they are once the form is saved: it sends what it changes, and the rest is as others have it. */
    savedOf: <T extends Values>(typed: T): T => ({ ...typed, ...rest.now, ...changedIn(typed) }),
  }
}

/** Readings at most: where something changes all the time, nothing is said in the place of something wrong. */
const MOST_READINGS = 6

/** Reads several things as they were at one time: again, until nothing has changed between two readings. */
async function atOneTime<T>(read: () => Promise<T>): Promise<T> {
  let before = await read()
  for (let readings = 2; readings <= MOST_READINGS; readings += 1) {
    const now = await read()
    if (JSON.stringify(now) === JSON.stringify(before)) return now
    before = now
  }
  throw new Error('It changes all the time.')
}
