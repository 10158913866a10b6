/** Asks before a page is left whose form has unsaved input. */
import { useEffect, useEffectEvent } from 'react'
import { useTranslate } from 'react-admin'
import { useFormContext, useFormState } from 'react-hook-form'
import { useBlocker } from 'react-router-dom'
import { differs } from '../contested.ts'

/** Of a page whose record there is no more: what was typed about it is of no use. */
export const UNASKED = { state: { unasked: true } }

/**
 * In the place of react-admin's `warnWhenUnsavedChanges`, which takes every page for a part of the form whose address begins
 * with the form's own: record 12 for a part of record 1.
 */
export function AskBeforeLeaving() {
  const translate = useTranslate()
  const { dirtyFields, defaultValues, isSubmitSuccessful } = useFormState()
  const { getValues } = useFormContext()
  const isTouched = Object.keys(dirtyFields).length > 0 && !isSubmitSuccessful
  const hasChanged = (name: string) => differs(getValues(name), defaultValues?.[name])
  const isUnsaved = () => isTouched && Object.keys(dirtyFields).some(hasChanged)
  const { state, proceed, reset } = useBlocker(
    ({ currentLocation, nextLocation, historyAction }) =>
      nextLocation.pathname !== currentLocation.pathname &&
      // Who goes back to where that led has typed something else.
      !(historyAction === 'PUSH' && nextLocation.state?.unasked) &&
      isUnsaved(),
  )
  const ask = useEffectEvent(() => {
    if (!isUnsaved() || window.confirm(translate('ra.message.unsaved_changes'))) proceed?.()
    else reset?.()
  })
  const hold = useEffectEvent((event: Event) => {
    if (isUnsaved()) event.preventDefault()
  })
  useEffect(() => {
    if (state !== 'blocked') return
    // What is left as soon as it is stored is known to be stored a moment later.
    const timer = setTimeout(() => ask())
    return () => clearTimeout(timer)
  }, [state])
  useEffect(() => {
    if (!isTouched) return
    const onLeaving = (event: Event) => hold(event)
    window.addEventListener('beforeunload', onLeaving)
    return () => window.removeEventListener('beforeunload', onLeaving)
  }, [isTouched])
  return null
}
