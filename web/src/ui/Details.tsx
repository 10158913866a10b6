import { Box, Card, Typography } from '@mui/material'
import type { ReactNode } from 'react'

/** More of them stand in two columns where there is room. */
const MOST_IN_COLUMN = 8

/** Values of a record, by label. */
export function Details({
  title = 'Details',
  items,
}: {
  title?: string
  /** Items without a value are hidden. */
  items: readonly (readonly [label: string, value: ReactNode])[]
}) {
  const shown = items.filter(
    ([, value]) => value !== undefined && value !== null && value !== '' && value !== false,
  )
  const column = 'minmax(104px, auto) minmax(0, 1fr)'
  return (
    <Card component="section" aria-label={title} sx={{ p: 2, containerType: 'inline-size' }}>
      <Typography variant="h2" sx={{ mb: 1.5 }}>
        {title}
      </Typography>
      <Box
        component="dl"
        sx={{
          m: 0,
          display: 'grid',
          gridTemplateColumns: column,
          gap: '8px 16px',
          ...(shown.length > MOST_IN_COLUMN && {
            '@container (min-width: 760px)': { gridTemplateColumns: `${column} ${column}` },
          }),
          '& dt': { color: 'text.secondary' },
          '& dd': { m: 0, overflowWrap: 'anywhere' },
          fontSize: '0.875rem',
        }}
      >
        {shown.map(([label, value]) => (
          <Detail key={label} label={label}>
            {value}
          </Detail>
        ))}
      </Box>
    </Card>
  )
}

function Detail({ label, children }: { label: string; children: ReactNode }) {
  return (
    <>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </>
  )
}

/** Free text: keeps its line breaks, and scrolls when it is long. */
export function LongText({ text }: { text: string }) {
  return (
    <Box
      component="span"
      dir="auto"
      sx={{ whiteSpace: 'pre-wrap', display: 'block', maxHeight: 200, overflowY: 'auto' }}
      tabIndex={0}
    >
      {text}
    </Box>
  )
}
