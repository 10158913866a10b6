import { Box, Typography } from '@mui/material'
import { useGetList } from 'react-admin'
import { useCan } from '../session.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { Breakable, RowLink } from '../ui/table.tsx'
import { addressOf, type Link } from './link.ts'
import { NoProgrammePage } from './NoProgrammePage.tsx'
import { useVisitorUrl } from './useVisitorUrl.ts'

interface Props {
  affiliateId: number
  active: boolean
}

/** The address that every affiliate has from the beginning: its code is their number. It works also where its record was deleted. */
export function DefaultLink({ affiliateId, active }: Props) {
  const code = String(affiliateId)
  const { data } = useGetList<Link>(
    'links',
    { filter: { code }, pagination: { page: 1, perPage: 1 } },
    { enabled: useCan()('links.read') },
  )
  const link = data?.[0]
  const address = addressOf({ code }, useVisitorUrl())
  const text = <Breakable text={address} />
  return (
    <>
      {link ? <RowLink to={`/links/${link.id}/show`}>{text}</RowLink> : text}
      <CopyButton text={address} name="default link" />
      {!active && (
        <Typography variant="caption" component="div" sx={{ color: 'text.secondary' }}>
          It credits nobody as long as the affiliate is not active.
        </Typography>
      )}
      {!link?.destination && (
        <Box sx={{ mt: 1 }}>
          <NoProgrammePage />
        </Box>
      )}
    </>
  )
}
