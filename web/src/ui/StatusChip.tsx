import { Box, Chip } from '@mui/material'
import { capital } from './words.ts'

type Colour = 'info' | 'success' | 'warning' | 'error' | 'neutral'

/** Where a status without a colour is shown, the area does not compile. */
const colours = {
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
  excluded: 'neutral',
  current: 'neutral',
  replaced: 'neutral',
  ended: 'neutral',
  cancelled: 'neutral',
  inactive: 'neutral',
  revoked: 'neutral',
} as const satisfies Record<string, Colour>

/** A status, readable without its colour. */
export function StatusChip({ status }: { status: keyof typeof colours }) {
  const colour: Colour = colours[status]
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
