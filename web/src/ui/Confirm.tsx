import { Alert, Button, Dialog, DialogActions, DialogContent, DialogTitle, Stack } from '@mui/material'
import { type ReactNode, useState } from 'react'
import { messageOf } from '../api.ts'
import { exceptByBackdrop } from './dialog.ts'

interface Question {
  open: boolean
  title: string
  /** What will happen, and what stays. */
  children: ReactNode
  /** The word on the button: what is done. */
  action: string
  /** The word on the button that does nothing. */
  dismiss?: string
  danger?: boolean
  onConfirm: () => Promise<unknown>
  onClose: () => void
}

/** Asks before something is done that can't be taken back; what the server says against it is shown in place. */
export function Confirm({
  open,
  title,
  children,
  action,
  dismiss = 'Cancel',
  danger = true,
  onConfirm,
  onClose,
}: Question) {
  const { busy, problem, close, confirm } = useConfirmation(onConfirm, onClose)
  return (
    <Dialog
      open={open}
      onClose={busy ? undefined : exceptByBackdrop(close)}
      aria-labelledby="question"
      maxWidth="xs"
      role="alertdialog"
    >
      <DialogTitle id="question" sx={{ overflowWrap: 'anywhere' }}>
        {title}
      </DialogTitle>
      <DialogContent>
        <Stack sx={{ gap: 1.5, color: 'text.secondary' }}>
          {children}
          {problem && <Alert severity="error">{problem}</Alert>}
        </Stack>
      </DialogContent>
      <DialogActions>
        <Button onClick={close} disabled={busy} autoFocus>
          {dismiss}
        </Button>
        <Button
          variant="contained"
          color={danger ? 'error' : 'primary'}
          onClick={confirm}
          // While the question fades away it must not be answered by a click that was meant for the page.
          disabled={!open}
          loading={busy}
        >
          {action}
        </Button>
      </DialogActions>
    </Dialog>
  )
}

/** Stays open, with what went wrong, until it is done or closed. */
function useConfirmation(onConfirm: Question['onConfirm'], onClose: () => void) {
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState('')
  const close = () => {
    setProblem('')
    onClose()
  }
  const confirm = async () => {
    setBusy(true)
    try {
      await onConfirm()
      close()
    } catch (error) {
      setProblem(messageOf(error))
    } finally {
      setBusy(false)
    }
  }
  return { busy, problem, close, confirm }
}
