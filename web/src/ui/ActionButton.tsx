import { Button, type ButtonProps } from '@mui/material'
import { type MouseEvent, useState } from 'react'
import { useNotify } from 'react-admin'
import { messageOf } from '../api.ts'

/** After that, a press means what the button says by then. */
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
  const [busy, setBusy] = useState(false)
  const press = async (event: MouseEvent) => {
    event.stopPropagation()
    // The second click of a double click must not trigger the undo.
    if (busy || event.detail > 1) return
    setBusy(true)
    try {
      await act()
      // Who pressed once more, since nothing seemed to happen, does not mean to undo it.
      setTimeout(() => setBusy(false), STEADY_MS)
    } catch (error) {
      setBusy(false)
      notify(messageOf(error), { type: 'error' })
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
