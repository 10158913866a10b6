import { useReference } from 'react-admin'
import { RowLink } from '../ui/table.tsx'
import { type Group, nameOf } from './group.ts'

/** A group's name, linked to its page; the number while it loads, or once it was deleted. */
export function GroupName({ id }: { id: number }) {
  const { referenceRecord } = useReference<Group>({ reference: 'groups', id })
  if (!referenceRecord) return <>#{id}</>
  return (
    <RowLink to={`/groups/${id}`}>
      <bdi>{nameOf(referenceRecord)}</bdi>
    </RowLink>
  )
}
