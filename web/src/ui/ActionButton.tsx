import { Button, type ButtonProps } from '@mui/material'
import { type MouseEvent, useState } from 'react'
import { useNotify } from 'react-admin'
import { messageOf } from '../api.ts'

interface Props extends Omit<ButtonProps, 'onClick' | 'action'> {
  /** The word on the button: what is done. */
  action: string
  /** What it is done to, for those who hear the page. */
  subject: string
  /** Whether it is done, so that the button takes it back. */
  done: boolean
  act: () => Promise<unknown>
}

/** Does something at once and can take it back. It stays where it is and keeps the focus throughout. */
export function ActionButton({ action, subject, done, act, ...rest }: Props) {
  const notify = useNotify()
  const [busy, setBusy] = useState(false)
  const press = async (event: MouseEvent) => {
    event.stopPropagation()
    // The second half of a double click is not meant for what the button does by then.
    if (busy || event.detail > 1) return
    setBusy(true)
    try {
      await act()
    } catch (error) {
      notify(messageOf(error), { type: 'error' })
    } finally {
      setBusy(false)
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
