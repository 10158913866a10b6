import { Box, Typography } from '@mui/material'
import qrcode from 'qrcode-generator'
import { useMemo } from 'react'

const QUIET_ZONE = 4
/** Cameras need some of the screen for each module. */
const PIXELS_OF_MODULE = 3
const LEAST_PIXELS = 168
const MOST_PIXELS = 340

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
  const pixels = Math.max(LEAST_PIXELS, side * PIXELS_OF_MODULE)
  return (
    <Box
      component="svg"
      role="img"
      aria-label={label}
      viewBox={`0 0 ${side} ${side}`}
      sx={{ width: pixels, height: pixels, bgcolor: '#fff', borderRadius: 1, flexShrink: 0 }}
    >
      <path d={path} fill="#000" shapeRendering="crispEdges" />
    </Box>
  )
}

/** The modules of the code as one SVG path; undefined for more than can be read on a screen. */
function modulesOf(text: string) {
  const code = qrcode(0, 'M')
  try {
    code.addData(text)
    code.make()
  } catch {
    return undefined
  }
  const size = code.getModuleCount()
  if ((size + 2 * QUIET_ZONE) * PIXELS_OF_MODULE > MOST_PIXELS) return undefined
  const squares: string[] = []
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      if (code.isDark(row, column)) squares.push(`M${column + QUIET_ZONE} ${row + QUIET_ZONE}h1v1h-1z`)
    }
  }
  return { size, path: squares.join('') }
}
