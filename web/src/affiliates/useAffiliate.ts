import { useReference } from 'react-admin'
import type { Affiliate } from './affiliate.tsx'

/** An affiliate, and whether they were deleted: one who could not be read was not. */
export function useAffiliate(id: number | null | undefined) {
  const { referenceRecord, isPending, error } = useReference<Affiliate>({
    reference: 'affiliates',
    id: id!,
    options: { enabled: Boolean(id) },
  })
  return { affiliate: referenceRecord, isDeleted: Boolean(id) && !isPending && !error && !referenceRecord }
}
