import { Parts, RowLink } from '../ui/table.tsx'
import { deletedName, nameOf } from './affiliate.tsx'
import { useAffiliate } from './useAffiliate.ts'

/** The name of an affiliate, who may have been deleted; the number while it is not known. */
export function AffiliateName({ id, link = false }: { id: number; link?: boolean }) {
  const { affiliate, isDeleted } = useAffiliate(id)
  if (!affiliate) return <>{isDeleted ? deletedName(id) : `Affiliate ${id}`}</>
  const name = (
    <bdi>
      <Parts of={nameOf(affiliate)} />
    </bdi>
  )
  return link ? <RowLink to={`/affiliates/${id}/show`}>{name}</RowLink> : name
}
