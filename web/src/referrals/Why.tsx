/** Explanation of a referral's amount, in sentences that can be sent to the affiliate. */
import { Card, Stack, Typography } from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import { get, messageOf } from '../api.ts'
import { CopyButton } from '../ui/CopyButton.tsx'
import { RecordLink } from '../ui/RecordLink.tsx'

interface Explanation {
  sentences: string[]
  conversion_id: number
  /** The approved payout run that has reserved it; 0 when there is none. */
  payout_run_id: number
}

export const useExplanation = (id: number) =>
  useQuery({
    queryKey: ['referrals', 'explanation', id],
    queryFn: ({ signal }) => get<Explanation>(`referrals/${id}/explanation`, { signal }),
  })

export function Why({ id }: { id: number }) {
  const { data, error } = useExplanation(id)
  if (!data && !error) return null
  return (
    <Card component="section" aria-label="Why" sx={{ p: { xs: 2, sm: 2.5 }, mt: 2 }}>
      <Stack direction="row" sx={{ gap: 1, alignItems: 'center', mb: 1 }}>
        <Typography variant="h2">Why</Typography>
        {data && data.conversion_id > 0 && (
          <Typography variant="body2">
            Conversion <RecordLink kind="conversion" id={data.conversion_id} />, with its refunds
          </Typography>
        )}
        {data && <CopyButton text={data.sentences.join('\n')} name="explanation" />}
      </Stack>
      {error && <Typography variant="body2">{messageOf(error)}</Typography>}
      {data?.sentences.map(sentence => (
        <Typography key={sentence} variant="body2" sx={{ mb: 0.5 }}>
          {sentence}
        </Typography>
      ))}
    </Card>
  )
}
