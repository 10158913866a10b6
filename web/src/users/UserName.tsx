import { useReference } from 'react-admin'
import { useCan } from '../session.tsx'
import { RowLink } from '../ui/table.tsx'
import { type User, userName } from './user.ts'

/** A user's name, linked to the page; the number while it loads, or without permission. */
export function UserName({ id }: { id: number }) {
  const may = useCan()('users.read')
  const { referenceRecord } = useReference<User>({ reference: 'users', id, options: { enabled: may } })
  if (!may) return `#${id}`
  return (
    <RowLink to={`/users/${id}`}>
      <bdi>{referenceRecord ? userName(referenceRecord) : `#${id}`}</bdi>
    </RowLink>
  )
}
