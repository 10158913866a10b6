import EditIcon from '@mui/icons-material/EditOutlined'
import { Box, Button, Paper } from '@mui/material'
import { Link as RouterLink } from 'react-router-dom'
import { AffiliateName } from '../affiliates/AffiliateName.tsx'
import { Allowed } from '../ui/Allowed.tsx'
import { Details } from '../ui/Details.tsx'
import { time } from '../ui/format.ts'
import { RecordShow } from '../ui/RecordShow.tsx'
import { Address } from './Address.tsx'
import { LeadsTo } from './LeadsTo.tsx'
import { type Link, nameOf } from './link.ts'
import { NoProgrammePage } from './NoProgrammePage.tsx'
import { links } from './pages.ts'

export function LinkShow() {
  return (
    <RecordShow<Link>
      of={links}
      nameOf={nameOf}
      actions={link => (
        <Allowed to="links.edit">
          <Button component={RouterLink} to={`/links/${link.id}`} startIcon={<EditIcon />}>
            Edit
          </Button>
        </Allowed>
      )}
    >
      {link => (
        <>
          {link.destination === '' && (
            <Box sx={{ mb: 2 }}>
              <NoProgrammePage />
            </Box>
          )}
          <Paper variant="outlined" sx={{ p: 2, mb: 2 }}>
            <Address link={link} />
          </Paper>
          <Details
            items={[
              ['Affiliate', <AffiliateName key="affiliate" id={link.affiliate_id} link />],
              ['Leads to', <LeadsTo key="page" link={link} />],
              ['Campaign', link.campaign && <bdi key="campaign">{link.campaign}</bdi>],
              ['Visits', String(link.visits)],
              ['Created', time(link.date)],
            ]}
          />
        </>
      )}
    </RecordShow>
  )
}
