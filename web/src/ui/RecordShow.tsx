import type { ReactNode } from 'react'
import { type RaRecord, ShowBase, useShowContext } from 'react-admin'
import { History } from '../tools/AuditLog.tsx'
import { isPassing, Page, Problem, RecordProblem, wholeRecord } from './Page.tsx'
import type { RecordPages } from './pages.ts'
import { parentOf } from './RecordForms.tsx'
import { Waiting } from './Waiting.tsx'

interface Props<R> {
  of: RecordPages
  nameOf: (record: R) => string
  aside?: (record: R) => ReactNode
  actions?: (record: R) => ReactNode
  children: (record: R) => ReactNode
}

/** The page of a record: actions, values and history. */
export function RecordShow<R extends RaRecord<number>>(props: Props<R>) {
  return (
    <ShowBase resource={props.of.resource} queryOptions={wholeRecord}>
      <ShowPage {...props} />
    </ShowBase>
  )
}

function ShowPage<R extends RaRecord<number>>({ of, nameOf, aside, actions, children }: Props<R>) {
  const { record, error, isPending, refetch } = useShowContext<R>()
  const parent = parentOf(of)
  if (error && !isPassing(error, record)) {
    const kind = of.name[0].toLowerCase()
    return <RecordProblem kind={kind} parent={parent} error={error} retry={() => refetch()} />
  }
  if (isPending || !record) return <Waiting />
  const name = nameOf(record)
  return (
    <Page
      title={name}
      heading={<bdi>{name}</bdi>}
      parent={parent}
      aside={aside?.(record)}
      actions={actions?.(record)}
    >
      {error && <Problem error={error} retry={() => refetch()} />}
      {children(record)}
      <History record={of.kind} id={record.id} />
    </Page>
  )
}
