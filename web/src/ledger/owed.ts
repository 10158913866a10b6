/** What an affiliate is owed, as forms compute with it before they are sent. */
import { useQuery } from '@tanstack/react-query'
import type { Account } from '../../../src/programme/ledger/holdings.ts'
import { get } from '../api.ts'
import type { Sum } from '../payouts/payout.ts'
import { unitsOf } from '../payouts/sum.ts'
import { useMoney } from '../ui/format.ts'

export type BalancesRecord = Record<Account, Sum>

/** @param query which time they are of; now, when it is empty */
export const useBalances = (affiliateId: number, query = '') =>
  useQuery({
    queryKey: ['affiliates', affiliateId, 'balances', query],
    queryFn: () => get<BalancesRecord>(`affiliates/${affiliateId}/balances${query && `?${query}`}`),
    placeholderData: before => before,
    enabled: affiliateId > 0,
  })

/** In the smallest unit; undefined as long as it is not known. */
export function useOwed(affiliateId: number): bigint | undefined {
  const { decimals } = useMoney()
  const { data, isPlaceholderData } = useBalances(affiliateId)
  if (!data || isPlaceholderData) return undefined
  return unitsOf(data.unpaid, decimals)! + unitsOf(data.reserved, decimals)!
}
