import { useReference } from 'react-admin'
import { pagesOf } from '../pages.ts'
import { pageOf } from '../ui/pages.ts'
import { RowLink } from '../ui/table.tsx'

/** The number of a record of the log, linked to its page if it has one and was not deleted. */
export function RecordNumber({ kind, id }: { kind: string; id: number }) {
  // Sessions are identified by their user.
  const pages = pagesOf(kind === 'session' ? 'user' : kind)
  const to = pages && pageOf(pages, id)
  return pages && to ? <LinkIfThere resource={pages.resource} id={id} to={to} /> : <>#{id}</>
}

function LinkIfThere({ resource, id, to }: { resource: string; id: number; to: string }) {
  const { referenceRecord } = useReference({ reference: resource, id })
  return referenceRecord ? <RowLink to={to}>#{id}</RowLink> : <>#{id}</>
}
