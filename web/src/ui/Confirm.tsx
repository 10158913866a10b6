import { Alert, Box, Button, Dialog, DialogActions, DialogContent, DialogTitle, Stack } from '@mui/material'
import { type FormEvent, type ReactNode, useEffect, useEffectEvent, useState } from 'react'
import { useNotify } from 'react-admin'
import { messageOf } from '../api.ts'
import { exceptByBackdrop, useAskingInRow } from './dialog.ts'
import { useIsHere } from './here.ts'

interface Question {
  open: boolean
  title: string
  /** Consequences of the action. */
  children: ReactNode
  /** Label of the confirming button. */
  action: string
  /** Label of the cancelling button. */
  dismiss?: string
  danger?: boolean
  /** Whether a field of the children gets the focus. */
  asks?: boolean
  /** Whether what the question asks for is filled in. */
  ready?: boolean
  /** How an error is shown, if not as the server says it. */
  shown?: (problem: string) => ReactNode
  onConfirm: () => Promise<unknown>
  onClose: () => void
}

const asSaid = (problem: string): ReactNode => problem

/** Confirmation of an action that cannot be undone; the server's error is shown in the dialog. */
export function Confirm({
  open,
  title,
  children,
  action,
  dismiss = 'Cancel',
  danger = true,
  asks = false,
  ready = true,
  shown = asSaid,
  onConfirm,
  onClose,
}: Question) {
  const { busy, problem, close, confirm } = useConfirmation(onConfirm, onClose, shown)
  useAskingInRow(open)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    // Not of the form that the question is asked in.
    event.stopPropagation()
    void confirm()
  }
  return (
    <Dialog
      open={open}
      onClose={busy ? undefined : exceptByBackdrop(close)}
      aria-labelledby="question"
      aria-describedby="consequences"
      maxWidth="xs"
      role="alertdialog"
    >
      <Box component="form" onSubmit={submit} sx={{ display: 'contents' }}>
        <DialogTitle id="question" sx={{ overflowWrap: 'anywhere' }}>
          {title}
        </DialogTitle>
        <DialogContent>
          <Stack id="consequences" sx={{ gap: 1.5, color: 'text.secondary' }}>
            {children}
            {problem && <Alert severity="error">{shown(problem)}</Alert>}
          </Stack>
        </DialogContent>
        <DialogActions>
          <Button onClick={close} disabled={busy} autoFocus={!asks}>
            {dismiss}
          </Button>
          <Button
            variant="contained"
            color={danger ? 'error' : 'primary'}
            type="submit"
            // While the dialog fades out, a click meant for the page must not confirm it.
            disabled={!open || !ready}
            loading={busy}
          >
            {action}
          </Button>
        </DialogActions>
      </Box>
    </Dialog>
  )
}

/**
 * Keeps the dialog open with the error until the action succeeds or the dialog is closed. Where the dialog goes because
 * somebody else was faster, with the button or the row that it belongs to, a notification says what it would have said.
 */
function useConfirmation(onConfirm: Question['onConfirm'], onClose: () => void, shown: typeof asSaid) {
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState('')
  const { isHere, tell } = useLastWord(problem, shown)
  const close = () => {
    setProblem('')
    onClose()
  }
  const confirm = async () => {
    setBusy(true)
    // Of the attempt before: it is not the last word where the question goes because this one succeeds.
    setProblem('')
    try {
      await onConfirm()
      close()
    } catch (error) {
      if (isHere()) setProblem(messageOf(error))
      else tell(messageOf(error))
    } finally {
      setBusy(false)
    }
  }
  return { busy, problem, close, confirm }
}

function useLastWord(problem: string, shown: typeof asSaid) {
  const notify = useNotify()
  const isHere = useIsHere()
  const tell = (text: string) => notify(shown(text), { type: 'error' })
  const onEnd = useEffectEvent(() => {
    if (problem !== '') tell(problem)
  })
  useEffect(() => () => onEnd(), [])
  return { isHere, tell }
}
