import { Box, Stack, TextField, Typography } from '@mui/material'
import { useState } from 'react'
import { allowedUrl, destinationOf } from '../../../src/programme/links/destination.ts'
import { useSession } from '../session.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { QrCode } from '../ui/QrCode.tsx'
import { Breakable } from '../ui/table.tsx'
import { addressOf, type Link } from './link.ts'
import { useVisitorUrl } from './useVisitorUrl.ts'

/** @returns where a deeper page is, or what is wrong with it, as the service judges it when a visitor follows the link */
function useDeeper({ destination }: Link, to: string): { page?: string; problem?: string } {
  const { programme_page: page, allowed_hosts: hosts } = useSession().settings
  const ownPage = destinationOf(destination, { page, hosts })
  if (to === '' || !ownPage) return {}
  const deeper = allowedUrl(to, { page, hosts }, ownPage.href)
  return deeper
    ? { page: deeper.href }
    : { problem: `This is no page on an allowed host: the link would lead to ${ownPage.href} instead.` }
}

/** The address of a link, to copy and print, and a builder for deep links. */
export function Address({ link }: { link: Link }) {
  const [to, setTo] = useState('')
  const { page, problem } = useDeeper(link, to.trim())
  const address = addressOf(link, useVisitorUrl(), to.trim())
  return (
    <Stack direction={{ xs: 'column', sm: 'row' }} spacing={3} sx={{ alignItems: 'flex-start' }}>
      <Stack spacing={2} sx={{ flex: 1, minWidth: 0, width: '100%' }}>
        <Box>
          <Typography variant="h2" sx={{ mb: 0.5 }}>
            Address
          </Typography>
          <Box sx={{ display: 'flex', alignItems: 'center' }}>
            {problem ? (
              'None leads there'
            ) : (
              <>
                <Breakable text={address} />
                <CopyButton text={address} name="address" />
              </>
            )}
          </Box>
        </Box>
        <TextField
          label="Deep link"
          value={to}
          onChange={event => setTo(event.target.value)}
          error={problem !== undefined}
          slotProps={{ formHelperText: { sx: { overflowWrap: 'anywhere' } } }}
          helperText={
            problem ??
            (page
              ? `The address above leads to ${page}`
              : 'A path such as /shoes/7, or a page on an allowed host. The address above leads there.')
          }
          size="small"
          fullWidth
        />
      </Stack>
      {!problem && <QrCode text={address} label="QR code of the address" />}
    </Stack>
  )
}
