import { Box, CircularProgress } from '@mui/material'

export function Waiting() {
  return (
    <Box sx={{ display: 'grid', placeItems: 'center', minHeight: '40dvh' }}>
      <CircularProgress size={28} aria-label="Loading" />
    </Box>
  )
}
