import { pagesOf } from '../pages.ts'
import { pageOf } from './pages.ts'
import { RowLink } from './table.tsx'

/** The number of a record, linked to its page. @param id 0 means none */
export function RecordLink({ kind, id }: { kind: string; id: number | string }) {
  const number = Number(id)
  if (!number) return <>–</>
  const pages = pagesOf(kind)
  const to = pages && pageOf(pages, number)
  return to ? <RowLink to={to}>#{number}</RowLink> : <>#{number}</>
}
