import { Box, Card, Typography } from '@mui/material'
import { Children, type ReactNode } from 'react'

/** In pixels. */
const GAP = 12

/** As many columns as there is room for, or fewer, so that the rows are of about the same length. */
function columnsOf(number: number, minWidth: number) {
  const all = Array.from({ length: Math.max(number - 1, 0) }, (_, index) => {
    const most = index + 2
    const columns = Math.ceil(number / Math.ceil(number / most))
    const isLastAlone = number % columns === 1
    const style = {
      gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))`,
      '& > :last-child': { gridColumn: isLastAlone ? '1 / -1' : 'auto' },
    }
    return [`@container (min-width: ${most * minWidth + (most - 1) * GAP}px)`, style] as const
  })
  return Object.fromEntries(all)
}

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
    <Box sx={{ containerType: 'inline-size', mb: 2 }}>
      <Box
        component="dl"
        aria-busy={busy}
        sx={{
          display: 'grid',
          gap: `${GAP}px`,
          gridTemplateColumns: 'minmax(0, 1fr)',
          m: 0,
          ...columnsOf(Children.toArray(children).length, minWidth),
        }}
      >
        {children}
      </Box>
    </Box>
  )
}

export function Tile({ label, value, hint }: { label: string; value: ReactNode; hint?: ReactNode }) {
  return (
    <Card sx={{ px: 2, py: 1.5, containerType: 'inline-size' }}>
      <Typography component="dt" variant="body2" sx={{ color: 'text.secondary' }}>
        {label}
      </Typography>
      <Box component="dd" sx={{ m: 0 }}>
        <Typography
          component="div"
          sx={{
            // An amount of millions fits into half of a telephone, and into a sixth of a wide page.
            fontSize: 'clamp(1rem, 13cqi, 1.3rem)',
            fontWeight: 620,
            letterSpacing: '-0.015em',
            fontVariantNumeric: 'tabular-nums',
            overflowWrap: 'anywhere',
          }}
        >
          {typeof value === 'string' ? value.replaceAll('\u00a0', ' ') : value}
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
