import {
  List,
  ListItem,
  Table,
  TableBody,
  TableCell,
  TableHead,
  TableRow,
  type Theme,
  Typography,
  useMediaQuery,
} from '@mui/material'
import type { TrackingStatus } from '../../../src/admin/tracking/schema.ts'
import { AffiliateName } from '../affiliates/AffiliateName.tsx'
import { time } from '../ui/format.ts'
import { PageAddress } from '../ui/table.tsx'

const LABEL = 'The script on your pages'

const outcomes: Readonly<Record<string, string>> = {
  counted: 'Works: the visit was counted',
  'not counted': 'Works: a bot or too many visits from one address, so it was not counted',
  'no affiliate': 'The page names no active affiliate',
  'other host': 'The page is on a host that the settings do not allow',
  '': 'Loaded, and nothing sent yet',
}

/** The hosts whose pages have loaded the script, and what came of what they sent. */
export function Sightings({ pages }: TrackingStatus) {
  const wide = useMediaQuery<Theme>(theme => theme.breakpoints.up('md'))
  return wide ? <SightingTable pages={pages} /> : <SightingCards pages={pages} />
}

const hostName = (host: string) => host || 'Any other'

function outcomeText({ outcome, last_counted }: TrackingStatus['pages'][number]): string {
  const text = outcomes[outcome] ?? outcome
  if (!last_counted || outcome === 'counted') return text
  return `${text}. A visit was last counted ${time(last_counted)}`
}

const timeOf = (moment: string) => (moment ? time(moment) : '–')

function SightingCards({ pages }: TrackingStatus) {
  return (
    <List disablePadding aria-label={LABEL}>
      {pages.map(page => (
        <ListItem key={page.host} disableGutters divider sx={{ display: 'block', overflowWrap: 'anywhere' }}>
          <strong>
            <bdi>{hostName(page.host)}</bdi>
          </strong>
          <div>{outcomeText(page)}</div>
          <Typography variant="body2" component="div" sx={{ color: 'text.secondary' }}>
            <div>Loaded: {timeOf(page.loaded)}</div>
            <div>Last sent: {timeOf(page.seen)}</div>
            {page.url && (
              <div>
                Page: <PageAddress url={page.url} />
              </div>
            )}
            {page.affiliate_id !== 0 && (
              <div>
                Affiliate: <AffiliateName id={page.affiliate_id} link />
              </div>
            )}
          </Typography>
        </ListItem>
      ))}
    </List>
  )
}

function SightingTable({ pages }: TrackingStatus) {
  return (
    <Table size="small" aria-label={LABEL}>
      <TableHead>
        <TableRow>
          <TableCell>Host</TableCell>
          <TableCell>Loaded</TableCell>
          <TableCell>Last sent</TableCell>
          <TableCell>What came of it</TableCell>
          <TableCell>Page</TableCell>
          <TableCell>Affiliate</TableCell>
        </TableRow>
      </TableHead>
      <TableBody>
        {pages.map(page => (
          <TableRow key={page.host}>
            <TableCell>{hostName(page.host)}</TableCell>
            <TableCell>{timeOf(page.loaded)}</TableCell>
            <TableCell>{timeOf(page.seen)}</TableCell>
            <TableCell>{outcomeText(page)}</TableCell>
            <TableCell>
              <PageAddress url={page.url} />
            </TableCell>
            <TableCell>{page.affiliate_id ? <AffiliateName id={page.affiliate_id} link /> : '–'}</TableCell>
          </TableRow>
        ))}
      </TableBody>
    </Table>
  )
}
