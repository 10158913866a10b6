import { useMemo, useState } from 'react'
import { HttpError, useNotify } from 'react-admin'
import { messageOf } from '../api.ts'
import { useIsHere } from './here.ts'

/** `save` for forms that are not about a resource; the server's validation errors go to the fields. */
export function useSubmit(send: (values: Record<string, unknown>) => Promise<void>) {
  const [saving, setSaving] = useState(false)
  const isHere = useIsHere()
  const notify = useNotify()
  return useMemo(
    () => ({
      saving,
      mutationMode: 'pessimistic' as const,
      save: async (values: Record<string, unknown>) => {
        setSaving(true)
        try {
          await send(values)
          return undefined
        } catch (error) {
          if (!isHere()) notify(`Not saved. ${messageOf(error)}`, { type: 'error' })
          const errors = error instanceof HttpError ? error.body?.errors : undefined
          return errors ?? { root: { serverError: messageOf(error) } }
        } finally {
          setSaving(false)
        }
      },
    }),
    [saving, send, isHere, notify],
  )
}
