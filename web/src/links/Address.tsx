import { Box, Stack, TextField, Typography } from '@mui/material'
import { useState } from 'react'
import { CopyButton } from '../ui/CopyButton.tsx'
import { QrCode } from '../ui/QrCode.tsx'
import { Breakable } from '../ui/table.tsx'
import { addressOf, type Link } from './link.ts'

/** The address of a link, to copy and print, and a builder for deep links. */
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
      <QrCode text={address} label="QR code of the address" />
    </Stack>
  )
}
