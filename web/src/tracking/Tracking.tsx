import {
  Alert,
  Box,
  Card,
  Stack,
  Table,
  TableBody,
  TableCell,
  TableContainer,
  TableHead,
  TableRow,
  Typography,
} from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { CampaignList, TrackingStatus } from '../../../src/admin/tracking/schema.ts'
import { AffiliateName } from '../affiliates/AffiliateName.tsx'
import { get } from '../api.ts'
import { useVisitorUrl } from '../links/useVisitorUrl.ts'
import { CopyButton } from '../ui/CopyButton.tsx'
import { count, time } from '../ui/format.ts'
import { wideOnly } from '../ui/Latest.tsx'
import { Page, Problem } from '../ui/Page.tsx'
import { Breakable, PageAddress } from '../ui/table.tsx'
import { Waiting } from '../ui/Waiting.tsx'
import type { Visit } from '../visits/visit.ts'
import { Sightings } from './Sightings.tsx'

const EVERY_MS = 3_000
const CAMPAIGNS_EVERY_MS = 60_000
const LATEST_VISITS = 10

/** Tracking status: whether the script works on the shop's pages, live visitors, and campaigns. */
export function Tracking() {
  return (
    <Page title="Tracking">
      <Stack spacing={2}>
        <ScriptStatus />
        <LatestVisits />
        <Campaigns />
      </Stack>
    </Page>
  )
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Card component="section" sx={{ p: 2, overflowX: 'auto' }}>
      <Typography variant="h2" sx={{ mb: 1.5 }}>
        {title}
      </Typography>
      {children}
    </Card>
  )
}

function ScriptStatus() {
  const { data, error, refetch } = useQuery({
    queryKey: ['tracking'],
    queryFn: () => get<TrackingStatus>('tracking'),
    refetchInterval: EVERY_MS,
  })
  return (
    <Section title="The script on your pages">
      {error && <Problem error={error} retry={() => refetch()} />}
      <Typography variant="body2" sx={{ mb: 1.5 }}>
        Put it on each page of the shop, then open a page of it with <code>?ref=</code> and the number of an
        active affiliate: what it sends appears here within seconds.
      </Typography>
      <Snippet />
      {!data && !error && <Waiting />}
      {data?.pages.length === 0 && <Alert severity="info">No page has loaded the script yet.</Alert>}
      {data && data.pages.length > 0 && <Sightings pages={data.pages} />}
    </Section>
  )
}

/** The first line keeps what a page calls before the script is loaded, so it belongs to it. */
function Snippet() {
  const visitorUrl = useVisitorUrl()
  const lines = [
    '<script>window.affiliated = window.affiliated || function () { (affiliated.q = affiliated.q || []).push(arguments) }</script>',
    `<script async src="${visitorUrl}/a.js"></script>`,
  ]
  return (
    <Box sx={{ display: 'flex', alignItems: 'center', mb: 2 }}>
      <Box component="code" sx={{ minWidth: 0, overflowWrap: 'anywhere' }}>
        {lines.map(line => (
          <div key={line}>
            <Breakable text={line} />
          </div>
        ))}
      </Box>
      <CopyButton text={lines.join('\n')} name="script" />
    </Box>
  )
}

/** As far left as the words above it. */
const dense = { '& th, & td': { px: { xs: 0.75, sm: 2 }, '&:first-of-type': { pl: 0 } } } as const

function LatestVisits() {
  const { data, error, refetch } = useQuery({
    queryKey: ['tracking', 'visits'],
    queryFn: () => get<Visit[]>(`visits?number=${LATEST_VISITS}&orderby=id&order=desc`),
    refetchInterval: EVERY_MS,
  })
  return (
    <Section title="The latest visits">
      {error && <Problem error={error} retry={() => refetch()} />}
      {!data && !error && <Waiting />}
      {data?.length === 0 && <Alert severity="info">Nobody has come through a link yet.</Alert>}
      {data && data.length > 0 && (
        <TableContainer>
          <Table size="small" aria-label="The latest visits" sx={dense}>
            <TableHead>
              <TableRow>
                <TableCell>Date</TableCell>
                <TableCell>Affiliate</TableCell>
                <TableCell>Page</TableCell>
                <TableCell sx={wideOnly}>From</TableCell>
                <TableCell sx={wideOnly}>Campaign</TableCell>
              </TableRow>
            </TableHead>
            <TableBody>
              {data.map(({ id, date, affiliate_id, url, referrer, campaign }) => (
                <TableRow key={id}>
                  <TableCell sx={{ whiteSpace: { sm: 'nowrap' } }}>{time(date)}</TableCell>
                  <TableCell>
                    <AffiliateName id={affiliate_id} link />
                  </TableCell>
                  <TableCell sx={{ minWidth: 110 }}>
                    <PageAddress url={url} />
                  </TableCell>
                  <TableCell sx={{ ...wideOnly, minWidth: 110 }}>
                    <PageAddress url={referrer} />
                  </TableCell>
                  <TableCell sx={wideOnly}>
                    <Breakable text={campaign || '–'} />
                  </TableCell>
                </TableRow>
              ))}
            </TableBody>
          </Table>
        </TableContainer>
      )}
    </Section>
  )
}

function Campaigns() {
  const { data, error, refetch } = useQuery({
    queryKey: ['tracking', 'campaigns'],
    queryFn: () => get<CampaignList>('tracking/campaigns'),
    refetchInterval: CAMPAIGNS_EVERY_MS,
  })
  if (!error && !data?.campaigns.length) return null
  return (
    <Section title="Campaigns">
      {error && <Problem error={error} retry={() => refetch()} />}
      {data && (
        <>
          <Typography variant="body2" sx={{ color: 'text.secondary', mb: 1 }}>
            Of the latest {count(data.latest)} visits.
          </Typography>
          <TableContainer>
            <Table size="small" aria-label="Campaigns" sx={dense}>
              <TableHead>
                <TableRow>
                  <TableCell>Campaign</TableCell>
                  <TableCell>Affiliate</TableCell>
                  <TableCell align="right">Visits</TableCell>
                  <TableCell align="right">Visitors</TableCell>
                  <TableCell align="right">Led to a referral</TableCell>
                </TableRow>
              </TableHead>
              <TableBody>
                {data.campaigns.map(({ affiliate_id, campaign, visits, visitors, converted }) => (
                  <TableRow key={`${affiliate_id} ${campaign}`}>
                    <TableCell>
                      <Breakable text={campaign || 'None'} />
                    </TableCell>
                    <TableCell>
                      <AffiliateName id={affiliate_id} link />
                    </TableCell>
                    <TableCell align="right">{visits}</TableCell>
                    <TableCell align="right">{visitors}</TableCell>
                    <TableCell align="right">{converted}</TableCell>
                  </TableRow>
                ))}
              </TableBody>
            </Table>
          </TableContainer>
        </>
      )}
    </Section>
  )
}
