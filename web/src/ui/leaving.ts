/** Asks before a page is left whose form has unsaved input, or which shows what cannot be shown again. */
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
  useQuestion(isTouched, isUnsaved, translate('ra.message.unsaved_changes'))
  return null
}

const always = () => true

/**
 * Asks before a page is left that shows what cannot be shown again.
 * @param question such as 'The token is shown only now. Leave the page all the same?'
 */
export const useShownOnce = (question: string): void => useQuestion(true, always, question)

/**
 * Where two of these are on a page, only the one that came last asks.
 * @param isAtStake whether `isLost` may return true
 * @param isLost called when the page is about to be left
 */
function useQuestion(isAtStake: boolean, isLost: () => boolean, question: string): void {
  const { state, proceed, reset } = useBlocker(
    ({ currentLocation, nextLocation, historyAction }) =>
      nextLocation.pathname !== currentLocation.pathname &&
      // Who goes back to where that led has typed something else.
      !(historyAction === 'PUSH' && nextLocation.state?.unasked) &&
      isLost(),
  )
  const ask = useEffectEvent(() => {
    if (!isLost() || window.confirm(question)) proceed?.()
    else reset?.()
  })
  const hold = useEffectEvent((event: Event) => {
    if (isLost()) event.preventDefault()
  })
  useEffect(() => {
    if (state !== 'blocked') return
    // What is left as soon as it is stored is known to be stored a moment later.
    const timer = setTimeout(() => ask())
    return () => clearTimeout(timer)
  }, [state])
  useEffect(() => {
    if (!isAtStake) return
    const onLeaving = (event: Event) => hold(event)
    window.addEventListener('beforeunload', onLeaving)
    return () => window.removeEventListener('beforeunload', onLeaving)
  }, [isAtStake])
}
