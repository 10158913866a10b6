import { useReference } from 'react-admin'
import { useCan } from '../session.tsx'
import { RowLink } from '../ui/table.tsx'
import { type Customer, nameOf } from './customer.ts'

/** A customer's name or e-mail address, linked to the page; the number without permission, or once deleted. */
export function CustomerName({ id }: { id: number }) {
  const may = useCan()('customers.read')
  const { referenceRecord } = useReference<Customer>({
    reference: 'customers',
    id,
    options: { enabled: may && id > 0 },
  })
  if (id === 0) return <>–</>
  if (!may || !referenceRecord) return <>#{id}</>
  return (
    <RowLink to={`/customers/${id}/show`}>
      <bdi>{nameOf(referenceRecord)}</bdi>
    </RowLink>
  )
}
