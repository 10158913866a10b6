import { Alert, Link } from '@mui/material'
import { Link as RouterLink } from 'react-router-dom'
import { useCan, useSession } from '../session.tsx'

/** Asks for the programme page; renders nothing once it is set. */
export function NoProgrammePage() {
  const { programme_page } = useSession().settings
  const may = useCan()('settings.edit')
  if (programme_page !== '') return null
  return (
    <Alert
      severity="warning"
      role="note"
      // Among the details of a record, which leave it little room.
      sx={{ px: { xs: 1.25, sm: 2 }, '& .MuiAlert-icon': { display: { xs: 'none', sm: 'flex' } } }}
    >
      This link leads nowhere yet: set the programme page{' '}
      {may ? (
        <Link component={RouterLink} to="/settings" color="inherit">
          under Settings, Tracking
        </Link>
      ) : (
        'under Settings, Tracking (an administrator can)'
      )}
      . Links without a destination lead to it, others to pages on its host.
    </Alert>
  )
}
