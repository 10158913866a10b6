import { useReference } from 'react-admin'
import { Parts, RowLink } from '../ui/table.tsx'
import { type Affiliate, deletedName, nameOf } from './affiliate.tsx'

/** The name of an affiliate, who may have been deleted. */
export function AffiliateName({ id, link = false }: { id: number; link?: boolean }) {
  const { referenceRecord, isPending } = useReference<Affiliate>({ reference: 'affiliates', id })
  if (isPending) return <>Affiliate {id}</>
  if (!referenceRecord) return <>{deletedName(id)}</>
  const name = (
    <bdi>
      <Parts of={nameOf(referenceRecord)} />
    </bdi>
  )
  return link ? <RowLink to={`/affiliates/${id}/show`}>{name}</RowLink> : name
}
