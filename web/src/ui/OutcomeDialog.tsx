import { Button, Dialog, DialogActions, DialogContent, DialogTitle, Typography } from '@mui/material'
import type { Outcome } from '../dataProvider.ts'
import { count, plural } from './format.ts'
import type { RecordPages } from './pages.ts'

const LISTED = 100

/** Lists the records for which a bulk action failed, with the reasons. */
export function OutcomeDialog({
  of: { name },
  outcome: { done, failed },
  word,
  onClose,
}: {
  of: RecordPages
  outcome: Outcome
  /** Past participle of the action, such as 'approved'. */
  word: string
  onClose: () => void
}) {
  const [singular, several] = name.map(word => word.toLowerCase())
  return (
    <Dialog open onClose={onClose} aria-labelledby="outcome" maxWidth="sm">
      <DialogTitle id="outcome">
        {plural(done.length, singular!, several)} {word}, {count(failed.length)} not
      </DialogTitle>
      <DialogContent>
        <Typography sx={{ mb: 1 }}>These are as they were:</Typography>
        <Typography component="ul" sx={{ m: 0, pl: 2.5, overflowWrap: 'anywhere' }}>
          {failed.slice(0, LISTED).map(({ id, message }) => (
            <li key={id}>
              #{id}: {message}
            </li>
          ))}
        </Typography>
        {failed.length > LISTED && <Typography>and {count(failed.length - LISTED)} more</Typography>}
      </DialogContent>
      <DialogActions>
        <Button onClick={onClose} autoFocus>
          Close
        </Button>
      </DialogActions>
    </Dialog>
  )
}
