import { Box, Typography } from '@mui/material'
import qrcode from 'qrcode-generator'
import { useMemo } from 'react'

const QUIET_ZONE = 4

/** QR code of a text, where one has room for it. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const modules = useMemo(() => modulesOf(text), [text])
  if (!modules) {
    return (
      <Typography variant="body2" sx={{ color: 'text.secondary' }}>
        It is too long for a QR code.
      </Typography>
    )
  }
  const { size, path } = modules
  const side = size + 2 * QUIET_ZONE
  return (
    <Box
      component="svg"
      role="img"
      aria-label={label}
      viewBox={`0 0 ${side} ${side}`}
      sx={{ width: 168, height: 168, bgcolor: '#fff', borderRadius: 1, flexShrink: 0 }}
    >
      <path d={path} fill="#000" shapeRendering="crispEdges" />
    </Box>
  )
}

/** The modules of the code as one SVG path; undefined for more than the largest code holds. */
function modulesOf(text: string) {
  const code = qrcode(0, 'M')
  try {
    code.addData(text)
    code.make()
  } catch {
    return undefined
  }
  const size = code.getModuleCount()
  const squares: string[] = []
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      if (code.isDark(row, column)) squares.push(`M${column + QUIET_ZONE} ${row + QUIET_ZONE}h1v1h-1z`)
    }
  }
  return { size, path: squares.join('') }
}
