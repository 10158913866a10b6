/** The values of a log entry, with names in the place of identifiers where their records are known. */
import { useReference } from 'react-admin'
import { AffiliateName } from '../affiliates/AffiliateName.tsx'
import { WithNames } from '../affiliates/WithNames.tsx'
import { CustomerName } from '../customers/CustomerName.tsx'
import { GroupName } from '../groups/GroupName.tsx'
import { pagesIdentifiedBy } from '../pages.ts'
import type { Item } from '../runs/run.ts'
import { useCan } from '../session.tsx'
import { RecordLink } from '../ui/RecordLink.tsx'
import { UserName } from '../users/UserName.tsx'
import { RecordNumber } from './RecordNumber.tsx'

const isAccount = (name: string) => name === 'owner' || name === 'user_id' || name.endsWith('_by')

/** The name of a value, without the word that says that it is an identifier where it is told otherwise. */
export const labelOf = (name: string) =>
  name === 'run_item_id' ? 'paid by' : (pagesIdentifiedBy(name)?.kind ?? name).replaceAll('_', ' ')

/** The affiliates whom a payout run leaves out, as a text that `WithNames` reads. */
const affiliatesIn = (ids: unknown) =>
  Array.isArray(ids) ? ids.map(id => `affiliate ${Number(id)}`).join(', ') : ''

/**
 * A value as text; of an account, an affiliate, a group or a customer the name, of another record its number, and of an
 * item of a payout run what it pays.
 */
export function Named({ name, value, text }: { name: string; value: unknown; text: string }) {
  if (text === '') return <>nothing</>
  if (name === 'left_out') return <WithNames text={affiliatesIn(value)} />
  // Some identifiers are text in the API.
  if (!/^\d+$/.test(text)) return <>{text}</>
  const id = Number(text)
  if (isAccount(name)) return <UserName id={id} />
  if (name === 'affiliate_id') return <AffiliateName id={id} link />
  if (name === 'group_id') return <GroupName id={id} />
  if (name === 'customer_id') return <CustomerName id={id} />
  if (name === 'run_item_id') return <PaymentOfRun id={id} />
  const pages = pagesIdentifiedBy(name)
  if (pages) return <RecordNumber kind={pages.kind} id={id} />
  return <>{text}</>
}

function PaymentOfRun({ id }: { id: number }) {
  const enabled = useCan()('run_items.read')
  const { referenceRecord: item } = useReference<Item>({ reference: 'run-items', id, options: { enabled } })
  if (!item) return <>a payout run</>
  return (
    <>
      payout run <RecordLink kind="payout_run" id={item.payout_run_id} />, payment {item.reference}
    </>
  )
}
