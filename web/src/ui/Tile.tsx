import { Box, Card, Typography } from '@mui/material'
import type { ReactNode } from 'react'

/** Key figures, side by side. */
export function Tiles({
  children,
  minWidth = 150,
  busy,
}: {
  children: ReactNode
  minWidth?: number
  /** Whether the figures are stale while new ones load. */
  busy?: boolean
}) {
  return (
    <Box
      component="dl"
      aria-busy={busy}
      sx={{
        display: 'grid',
        gap: 1.5,
        gridTemplateColumns: `repeat(auto-fit, minmax(${minWidth}px, 1fr))`,
        m: 0,
        mb: 2,
      }}
    >
      {children}
    </Box>
  )
}

export function Tile({ label, value, hint }: { label: string; value: ReactNode; hint?: ReactNode }) {
  return (
    <Card sx={{ px: 2, py: 1.5 }}>
      <Typography component="dt" variant="body2" sx={{ color: 'text.secondary' }}>
        {label}
      </Typography>
      <Box component="dd" sx={{ m: 0 }}>
        <Typography
          component="div"
          sx={{
            // An amount of millions fits into half of a telephone.
            fontSize: 'clamp(1.05rem, 4.5vw, 1.3rem)',
            fontWeight: 620,
            letterSpacing: '-0.015em',
            fontVariantNumeric: 'tabular-nums',
            overflowWrap: 'anywhere',
          }}
        >
          {value}
        </Typography>
        {hint && (
          <Typography variant="caption" component="div" sx={{ color: 'text.secondary' }}>
            {hint}
          </Typography>
        )}
      </Box>
    </Card>
  )
}
