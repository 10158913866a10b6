import { Box, Stack, TextField, Typography } from '@mui/material'
import qrcode from 'qrcode-generator'
import { useMemo, useState } from 'react'
import { CopyButton } from '../ui/CopyButton.tsx'
import { Breakable } from '../ui/table.tsx'
import { addressOf, type Link } from './link.ts'

const QUIET_ZONE = 4

/** The address of a link, to copy and to print, and the builder of those that lead deeper. */
export function Address({ link }: { link: Link }) {
  const [to, setTo] = useState('')
  const address = addressOf(link, to.trim())
  return (
    <Stack direction={{ xs: 'column', sm: 'row' }} spacing={3} sx={{ alignItems: 'flex-start' }}>
      <Stack spacing={2} sx={{ flex: 1, minWidth: 0, width: '100%' }}>
        <Box>
          <Typography variant="overline" component="h2">
            Address
          </Typography>
          <Box sx={{ display: 'flex', alignItems: 'center' }}>
            <Breakable text={address} />
            <CopyButton text={address} name="address" />
          </Box>
        </Box>
        <TextField
          label="Deeper page"
          value={to}
          onChange={event => setTo(event.target.value)}
          helperText="A path such as /shoes/7, or a page on an allowed host. The address above leads there."
          size="small"
          fullWidth
        />
      </Stack>
      <QrCode text={address} />
    </Stack>
  )
}

function QrCode({ text }: { text: string }) {
  const { size, path } = useMemo(() => drawn(text), [text])
  const side = size + 2 * QUIET_ZONE
  return (
    <Box
      component="svg"
      role="img"
      aria-label="QR code of the address"
      viewBox={`0 0 ${side} ${side}`}
      sx={{ width: 168, height: 168, bgcolor: '#fff', borderRadius: 1, flexShrink: 0 }}
    >
      <path d={path} fill="#000" shapeRendering="crispEdges" />
    </Box>
  )
}

/** Its modules as a path of squares. */
function drawn(text: string) {
  const code = qrcode(0, 'M')
  code.addData(text)
  code.make()
  const size = code.getModuleCount()
  const squares: string[] = []
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      if (code.isDark(row, column)) squares.push(`M${column + QUIET_ZONE} ${row + QUIET_ZONE}h1v1h-1z`)
    }
  }
  return { size, path: squares.join('') }
}
