import { Button, type ButtonProps } from '@mui/material'
import { type MouseEvent, useEffect, useState } from 'react'
import { useNotify } from 'react-admin'
import { messageOf } from '../api.ts'

/** How long it takes no press once it says something else: who presses again, since nothing seemed to happen, does not mean that. */
const STEADY_MS = 1000

interface Props extends Omit<ButtonProps, 'onClick' | 'action'> {
  /** Label of the button. */
  action: string
  /** The record it acts on, for screen readers. */
  subject: string
  /** Whether the action is done, so that the button undoes it. */
  done: boolean
  act: () => Promise<unknown>
}

/** Performs an action at once and then offers to undo it. The button stays in place and keeps the focus. */
export function ActionButton({ action, subject, done, act, ...rest }: Props) {
  const notify = useNotify()
  const [isActing, setActing] = useState(false)
  const isSteady = useSteady(done)
  const busy = isActing || !isSteady
  const press = async (event: MouseEvent) => {
    event.stopPropagation()
    // The second click of a double click must not trigger the undo.
    if (busy || event.detail > 1) return
    setActing(true)
    try {
      await act()
    } catch (error) {
      notify(messageOf(error), { type: 'error' })
    } finally {
      setActing(false)
    }
  }
  return (
    <Button
      {...rest}
      aria-label={done ? `Undo: ${action.toLowerCase()}, ${subject}` : `${action}: ${subject}`}
      aria-busy={busy}
      onClick={press}
    >
      {done ? 'Undo' : action}
    </Button>
  )
}

/** Whether the value has been the same for a while. */
function useSteady(value: boolean): boolean {
  const [steady, setSteady] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSteady(value), STEADY_MS)
    return () => clearTimeout(timer)
  }, [value])
  return steady === value
}
