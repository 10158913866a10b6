import { Typography } from '@mui/material'
import { allowedUrl } from '../../../src/programme/links/destination.ts'
import { useSession } from '../session.tsx'
import { PageAddress } from '../ui/table.tsx'
import type { Link } from './link.ts'

/** The page that a link leads to: the programme's where its own is no longer on an allowed host. */
export function LeadsTo({ link: { destination } }: { link: Link }) {
  const { programme_page: page, allowed_hosts: hosts } = useSession().settings
  if (destination === '') return 'Programme page'
  return (
    <>
      <PageAddress url={destination} />
      {!allowedUrl(destination, { page, hosts }) && (
        <Typography variant="caption" component="div" color="warning.main">
          Not on an allowed host: it leads to the programme page.
        </Typography>
      )}
    </>
  )
}
