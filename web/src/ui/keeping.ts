/** What a form keeps of what was typed when its record is stored, and when it is read again. */
import { type RefObject, useCallback, useEffect, useEffectEvent, useRef } from 'react'
import { useRecordContext, useRegisterMutationMiddleware } from 'react-admin'
import { useFormContext, useFormState } from 'react-hook-form'
import { envelopeOf } from '../api.ts'
import { differs } from '../contested.ts'

type Values = Readonly<Record<string, unknown>>

/**
 * A record that is read again while its form is open (it was stored, and the reading was slow; or somebody else has changed
 * it) keeps what was typed, and what was said of it.
 */
export const whenReadAgain = {
  keepDirtyValues: true,
  keepDirty: true,
  keepErrors: true,
  keepSubmitCount: true,
}

interface Shown {
  /** The record, which the form shows where nothing was typed. */
  readonly record: Values
  /** What the form has shown where something was typed before others' changes of that were read. */
  readonly typedOver: Values
}

/** What was typed is meant for what the form has shown then: saving asks before it overwrites what others have stored since. */
function useShown(): RefObject<Shown> {
  const record = useRecordContext<Values>()
  const { dirtyFields } = useFormState()
  const shown = useRef<Shown>({ record: record ?? {}, typedOver: {} })
  const compare = useEffectEvent((now: Values) => {
    const { record: before, typedOver } = shown.current
    // A list that was just left has stored less of it: the form shows nothing there.
    const overtaken = Object.keys(dirtyFields)
      .filter(name => differs(now[name], before[name]))
      .map(name => [name, before[name] ?? ''])
    shown.current = { record: now, typedOver: { ...Object.fromEntries(overtaken), ...typedOver } }
  })
  useEffect(() => compare(record ?? {}), [record])
  return shown
}

type Send = (resource: string, params: { previousData?: Values }) => Promise<unknown>

/**
 * What was stored is not unsaved: the page that opens next must not be held up by a question. The reading that follows is
 * too late for that, as it keeps what counts as typed.
 */
export function CleanOnceStored() {
  const { reset } = useFormContext()
  const shown = useShown()
  const clean = useCallback(
    async (resource: string, { previousData, ...params }: Parameters<Send>[1], send: Send) => {
      const before = previousData && { previousData: { ...previousData, ...shown.current.typedOver } }
      try {
        const answer = await send(resource, { ...params, ...before })
        shown.current = { ...shown.current, typedOver: {} }
        reset(values => values, { keepValues: true, keepFieldsRef: true, keepSubmitCount: true })
        return answer
      } catch (error) {
        // Once it was told, the form goes on with that.
        const { goOn } = envelopeOf(error)
        if (goOn) shown.current = { record: goOn, typedOver: {} }
        throw error
      }
    },
    [reset, shown],
  )
  useRegisterMutationMiddleware<Send>(clean)
  return null
}
