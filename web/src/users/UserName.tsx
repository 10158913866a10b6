import { useQuery } from '@tanstack/react-query'
import { useReference } from 'react-admin'
import { get } from '../api.ts'
import { useCan } from '../session.tsx'
import { RowLink } from '../ui/table.tsx'
import { type User, userName } from './user.ts'

/** A user's name, linked to the page for those who may open it; the number while it loads. */
export function UserName({ id }: { id: number }) {
  const may = useCan()('users.read')
  const { referenceRecord } = useReference<User>({ reference: 'users', id, options: { enabled: may } })
  const { data } = useQuery({
    queryKey: ['users', id, 'name'],
    queryFn: () => get<{ name: string }>(`users/${id}/name`),
    enabled: !may,
  })
  if (!may) return <bdi>{data?.name ?? `#${id}`}</bdi>
  return (
    <RowLink to={`/users/${id}`}>
      <bdi>{referenceRecord ? userName(referenceRecord) : `#${id}`}</bdi>
    </RowLink>
  )
}
