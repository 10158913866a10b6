import { Box, Chip } from '@mui/material'
import { capital } from './words.ts'

type Colour = 'info' | 'success' | 'warning' | 'error' | 'neutral'

const colours: Record<string, Colour> = {
  active: 'success',
  paid: 'success',
  unpaid: 'info',
  pending: 'warning',
  draft: 'neutral',
  included: 'info',
  reserved: 'info',
  approving: 'warning',
  approved: 'info',
  sent: 'info',
  closed: 'success',
  returned: 'error',
  unknown: 'warning',
  expired: 'warning',
  failed: 'error',
  rejected: 'error',
  inactive: 'neutral',
  revoked: 'neutral',
}

/** A status, readable without its colour. */
export function StatusChip({ status }: { status: string }) {
  const colour = colours[status] ?? 'neutral'
  return (
    <Chip
      size="small"
      label={capital(status)}
      icon={
        <Box component="span" sx={{ width: 7, height: 7, borderRadius: '50%', bgcolor: 'currentColor' }} />
      }
      sx={theme => ({
        height: 23,
        fontSize: '0.79rem',
        color: colour === 'neutral' ? theme.palette.text.secondary : theme.palette[colour].main,
        bgcolor: colour === 'neutral' ? theme.palette.action.hover : theme.palette[colour].light,
        '& .MuiChip-icon': { color: 'inherit', ml: 1, mr: -0.25 },
      })}
    />
  )
}
