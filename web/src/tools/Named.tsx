/** The values of a log entry, with names in the place of identifiers where their records are known. */
import { useReference } from 'react-admin'
import { AffiliateName } from '../affiliates/AffiliateName.tsx'
import { WithNames } from '../affiliates/WithNames.tsx'
import { GroupName } from '../groups/GroupName.tsx'
import type { Item } from '../runs/run.ts'
import { useCan } from '../session.tsx'
import { RecordLink } from '../ui/RecordLink.tsx'
import { UserName } from '../users/UserName.tsx'

const isAccount = (name: string) => name === 'owner' || name === 'user_id' || name.endsWith('_by')

/** The name of a value, without the word that says that it is an identifier where it is told otherwise. */
export const labelOf = (name: string) =>
  name === 'run_item_id' ? 'paid by' : name.replace(/^(affiliate|group|user)_id$/, '$1').replaceAll('_', ' ')

/** The affiliates whom a payout run leaves out, as a text that `WithNames` reads. */
const affiliatesIn = (ids: unknown) =>
  Array.isArray(ids) ? ids.map(id => `affiliate ${Number(id)}`).join(', ') : ''

/** A value as text; of an account, an affiliate or a group the name, and of an item of a payout run what it pays. */
export function Named({ name, value, text }: { name: string; value: unknown; text: string }) {
  if (text === '') return <>nothing</>
  if (name === 'left_out') return <WithNames text={affiliatesIn(value)} />
  if (typeof value !== 'number') return <>{text}</>
  if (isAccount(name)) return <UserName id={value} />
  if (name === 'affiliate_id') return <AffiliateName id={value} link />
  if (name === 'group_id') return <GroupName id={value} />
  if (name === 'run_item_id') return <PaymentOfRun id={value} />
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
