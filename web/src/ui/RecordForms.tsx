/** Create and edit forms of a kind of record: it supplies the fields, everything else is shared. */
import DeleteIcon from '@mui/icons-material/DeleteOutlined'
import { Button, Typography } from '@mui/material'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import {
  CreateBase,
  EditBase,
  type RaRecord,
  useDataProvider,
  useEditContext,
  useNotify,
  useRefresh,
} from 'react-admin'
import { useNavigate } from 'react-router-dom'
import { envelopeOf, messageOf, newIdempotencyKeys } from '../api.ts'
import { useCan } from '../session.tsx'
import { Confirm } from './Confirm.tsx'
import { replaceOnTheWayBack } from './focus.ts'
import { CarefulForm, FormButtons } from './form.tsx'
import { useIsHere } from './here.ts'
import { UNASKED } from './leaving.ts'
import { listAt, useGoBack } from './lists.ts'
import { isPassing, Page, RecordProblem, wholeRecord } from './Page.tsx'
import { pageOf, type RecordPages } from './pages.ts'
import { Waiting } from './Waiting.tsx'

type Values = Record<string, unknown>

/** Cleared fields are sent as '', not null. */
export const withoutNull = (values: Values): Values =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value ?? '']))

interface FormProps {
  of: RecordPages
  /** Maps the form's values to API arguments. */
  argumentsOf?: (values: Values, options?: { previousData?: Values }) => Values
  /** Full width, for forms with something next to the fields. */
  wide?: boolean
  /** The fields. */
  children: ReactNode
}

export const parentOf = ({ resource, name }: RecordPages) => ({ to: `/${resource}`, label: name[1] })

const numbered =
  ({ name: [name] }: RecordPages, outcome: string) =>
  ({ id }: RaRecord<number>) =>
    `${name} ${id} ${outcome}`

/**
 * What becomes of a form when the server has answered: it opens the record's page, or goes back to where the form was opened
 * if it has none. Who has left the form meanwhile is told only.
 * @param said of the saved record
 */
export function useSaving<R extends RaRecord<number>>(of: RecordPages, said: (record: R) => string) {
  const notify = useNotify()
  const navigate = useNavigate()
  const goBack = useGoBack(`/${of.resource}`)
  const queryClient = useQueryClient()
  const isHere = useIsHere()
  return {
    onSuccess: (record: R) => {
      if (of.replacing) {
        // The lists that were read lead to the record before.
        queryClient.removeQueries({ queryKey: [of.resource, 'getList'] })
        replaceOnTheWayBack(pageOf(of, record.id)!, pageOf(of, record[`${of.kind}_id`])!)
      }
      // Figures of other records may depend on this one.
      void queryClient.invalidateQueries()
      notify(said(record), { type: 'success' })
      if (!isHere()) return
      if (of.show) navigate(pageOf(of, record.id)!)
      else goBack()
    },
    onError: (error: unknown) => {
      const { errors, goOn } = envelopeOf(error)
      if (goOn) queryClient.setQueryData([of.resource, 'getOne', { id: String(goOn.id) }], goOn)
      // The form shows them itself.
      if (isHere() && errors) return
      notify(`${of.name[0]} not saved. ${messageOf(error)}`, { type: 'error' })
    },
  }
}

export function RecordCreate({
  of,
  title,
  defaults,
  save,
  outcome = 'created',
  argumentsOf = withoutNull,
  wide = false,
  children,
}: FormProps & { title: string; defaults?: object; save?: string; outcome?: string }) {
  const [keyOf] = useState(newIdempotencyKeys)
  const saving = useSaving(of, numbered(of, outcome))
  return (
    <CreateBase
      resource={of.resource}
      transform={argumentsOf}
      redirect={false}
      mutationOptions={{ ...(!of.secret && { meta: { keyOf } }), ...saving }}
    >
      <Page title={title} parent={parentOf(of)} narrow={!wide}>
        <CarefulForm {...(defaults && { defaultValues: defaults })}>
          {children}
          <FormButtons back={`/${of.resource}`} {...(save && { label: save })} />
        </CarefulForm>
      </Page>
    </CreateBase>
  )
}

interface EditProps<R> extends FormProps {
  nameOf?: (record: R) => string
  /** The message once it is saved. */
  said?: (record: R) => string
  aside?: (record: R) => ReactNode
  actions?: (record: R) => ReactNode
  /** Content above the form. */
  above?: (record: R) => ReactNode
  /** Content below the form. */
  below?: (record: R) => ReactNode
}

export function RecordEdit<R extends RaRecord<number>>({
  of,
  argumentsOf = withoutNull,
  said = numbered(of, 'saved'),
  ...rest
}: EditProps<R>) {
  const saving = useSaving<R>(of, said)
  return (
    <EditBase
      resource={of.resource}
      mutationMode="pessimistic"
      queryOptions={wholeRecord}
      redirect={false}
      transform={argumentsOf}
      mutationOptions={saving}
    >
      <EditPage of={of} {...rest} />
    </EditBase>
  )
}

function EditPage<R extends RaRecord<number>>(props: Omit<EditProps<R>, 'argumentsOf' | 'said'>) {
  const { of, nameOf, aside, actions, above, below, wide = false, children } = props
  const { record, error, isPending, refetch } = useEditContext<R>()
  const list = parentOf(of)
  const kind = of.name[0].toLowerCase()
  if (error && !isPassing(error, record))
    return <RecordProblem kind={kind} parent={list} error={error} retry={() => refetch()} />
  if (isPending || !record || !isWhole(of, record)) return <Waiting />
  const name = nameOf?.(record) ?? `${of.name[0]} ${record.id}`
  const page = of.show && pageOf(of, record.id)
  return (
    <Page
      title={page ? `Edit ${name}` : name}
      heading={
        <>
          {page && 'Edit '}
          <bdi>{name}</bdi>
        </>
      }
      parent={page ? { to: page, label: name } : list}
      narrow={!wide}
      aside={aside?.(record)}
      actions={actions?.(record)}
    >
      {above?.(record)}
      <CarefulForm needs={`${of.resource}.edit`}>
        {children}
        <FormButtons back={page ?? list.to} />
      </CarefulForm>
      {below?.(record)}
    </Page>
  )
}

/** A record of a list lacks what is read along with a single one: what is typed in its place would overwrite it. */
const isWhole = ({ below = {} }: RecordPages, record: RaRecord) =>
  Object.values(below).every(field => record[field] !== undefined)

/** Deletes a record after confirmation. @param children what is lost, and what stays */
export function DeleteRecord({
  of,
  record,
  name = `${of.name[0].toLowerCase()} ${record.id}`,
  children,
}: {
  of: RecordPages
  record: RaRecord<number>
  name?: string
  children: ReactNode
}) {
  const dataProvider = useDataProvider()
  const notify = useNotify()
  const navigate = useNavigate()
  const refresh = useRefresh()
  const isHere = useIsHere()
  const [asking, setAsking] = useState(false)
  const may = useCan()(`${of.resource}.delete`)
  if (!may) return null
  const confirm = async () => {
    await dataProvider.delete(of.resource, { id: record.id, previousData: record })
    notify(`${name.charAt(0).toUpperCase()}${name.slice(1)} deleted`, { type: 'success' })
    if (isHere()) navigate(listAt(`/${of.resource}`), UNASKED)
    refresh()
  }
  return (
    <>
      <Button color="error" startIcon={<DeleteIcon />} onClick={() => setAsking(true)}>
        Delete
      </Button>
      <Confirm
        open={asking}
        title={`Delete ${name}?`}
        action="Delete"
        onConfirm={confirm}
        onClose={() => setAsking(false)}
      >
        <Typography component="div">{children}</Typography>
      </Confirm>
    </>
  )
}
