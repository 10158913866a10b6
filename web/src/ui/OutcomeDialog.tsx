import { Button, Dialog, DialogActions, DialogContent, DialogTitle, Typography } from '@mui/material'
import type { Outcome } from '../dataProvider.ts'
import { plural } from './format.ts'
import type { RecordPages } from './pages.ts'

/** What was not done with some of those that were chosen, and why. */
export function OutcomeDialog({
  of: { name },
  outcome: { ids, refused },
  done,
  onClose,
}: {
  of: RecordPages
  outcome: Outcome
  /** 'approved' */
  done: string
  onClose: () => void
}) {
  const [one, several] = name.map(word => word.toLowerCase())
  return (
    <Dialog open onClose={onClose} aria-labelledby="outcome" maxWidth="sm">
      <DialogTitle id="outcome">
        {plural(ids.length, one!, several)} {done}, {refused.length} not
      </DialogTitle>
      <DialogContent>
        <Typography sx={{ mb: 1 }}>These are as they were:</Typography>
        <Typography component="ul" sx={{ m: 0, pl: 2.5, overflowWrap: 'anywhere' }}>
          {refused.map(({ id, reason }) => (
            <li key={id}>
              #{id}: {reason}
            </li>
          ))}
        </Typography>
      </DialogContent>
      <DialogActions>
        <Button onClick={onClose} autoFocus>
          Close
        </Button>
      </DialogActions>
    </Dialog>
  )
}
