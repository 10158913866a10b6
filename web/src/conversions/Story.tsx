import { Box, Card, Stack, Typography } from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type { explanationSchema, timelineSchema } from '../../../src/programme/conversions/schema.ts'
import { WithNames } from '../affiliates/WithNames.tsx'
import { get } from '../api.ts'
import { nameOfKind } from '../names.ts'
import { time } from '../ui/format.ts'
import { Problem } from '../ui/Page.tsx'
import { RecordLink } from '../ui/RecordLink.tsx'

type Timeline = Static<typeof timelineSchema>
type Explanation = Static<typeof explanationSchema>

/** Timeline of a conversion, and the explanation of the commission. */
export function Story({ id }: { id: number }) {
  const path = `conversions/${id}`
  const timeline = useQuery({
    queryKey: ['conversions', id, 'timeline'],
    queryFn: () => get<Timeline>(`${path}/timeline`),
  })
  const explanation = useQuery({
    queryKey: ['conversions', id, 'explanation'],
    queryFn: () => get<Explanation>(`${path}/explanation`),
  })
  const error = timeline.error ?? explanation.error
  return (
    <Stack sx={{ mt: 2, gap: 2 }}>
      {error && <Problem error={error} />}
      {timeline.data && (
        <Section title="What happened">
          <Box component="ol" sx={{ m: 0, p: 0, listStyle: 'none' }}>
            {timeline.data.timeline.map(moment => (
              <Moment key={`${moment.kind} ${moment.id} ${moment.date} ${moment.text}`} moment={moment} />
            ))}
          </Box>
        </Section>
      )}
      {explanation.data && (
        <Section title="Why">
          {explanation.data.sentences.map(sentence => (
            <Typography key={sentence} variant="body2" sx={{ py: 0.25 }}>
              <WithNames text={sentence} />
            </Typography>
          ))}
        </Section>
      )}
    </Stack>
  )
}

function Section({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <Card component="section" aria-label={title} sx={{ p: 2 }}>
      <Typography variant="h2" sx={{ pb: 1 }}>
        {title}
      </Typography>
      {children}
    </Card>
  )
}

function Moment({ moment: { date, kind, id, text } }: { moment: Timeline['timeline'][number] }) {
  return (
    <Box component="li" sx={{ borderLeft: 2, borderColor: 'divider', pl: 2, pb: 1.5, position: 'relative' }}>
      <Box
        aria-hidden
        sx={{
          position: 'absolute',
          left: -6,
          top: 6,
          width: 10,
          height: 10,
          borderRadius: '50%',
          bgcolor: 'primary.main',
        }}
      />
      <Typography variant="caption" sx={{ color: 'text.secondary' }}>
        {time(date)} · {nameOfKind(kind)} <RecordLink kind={kind} id={id} />
      </Typography>
      <Typography variant="body2">
        <WithNames text={text} />
      </Typography>
    </Box>
  )
}
