/** Balances of an affiliate, for forms that show the effect of unsaved input. */
import { useQuery } from '@tanstack/react-query'
import type { Account } from '../../../src/programme/ledger/holdings.ts'
import { get } from '../api.ts'
import type { Sum } from '../payouts/payout.ts'
import { unitsOf } from '../payouts/sum.ts'
import { useMoney } from '../ui/format.ts'

export type BalancesRecord = Record<Account, Sum>

/** @param query selects a past date; empty means now */
export const useBalances = (affiliateId: number, query = '') =>
  useQuery({
    queryKey: ['affiliates', affiliateId, 'balances', query],
    queryFn: () => get<BalancesRecord>(`affiliates/${affiliateId}/balances${query && `?${query}`}`),
    placeholderData: before => before,
    enabled: affiliateId > 0,
  })

/** In minor units; undefined until it is loaded. */
export function useOwed(affiliateId: number): bigint | undefined {
  const { decimals } = useMoney()
  const { data, isPlaceholderData } = useBalances(affiliateId)
  if (!data || isPlaceholderData) return undefined
  return unitsOf(data.unpaid, decimals)! + unitsOf(data.reserved, decimals)!
}
