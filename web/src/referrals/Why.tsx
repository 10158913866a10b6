/** Explanation of a referral's amount, in sentences that can be sent to the affiliate. */
import { Button, Card, Stack, Typography } from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router-dom'
import { get, messageOf, queryOf } from '../api.ts'
import { Allowed } from '../ui/Allowed.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { day, useMoney } from '../ui/format.ts'
import { sentenceHere } from '../ui/numbers.ts'
import { RecordLink } from '../ui/RecordLink.tsx'
import { nameOf, type Referral } from './referral.ts'

interface Explanation {
  status: Referral['status']
  reason: string
  original_currency: string
  sentences: string[]
  conversion_id: number
  rejection_reason: string
  /** The approved payout run that has reserved it; 0 when there is none. */
  payout_run_id: number
}

export const useExplanation = (id: number) =>
  useQuery({
    queryKey: ['referrals', 'explanation', id],
    queryFn: ({ signal }) => get<Explanation>(`referrals/${id}/explanation`, { signal }),
  })

export function Why({ referral }: { referral: Referral }) {
  const { data, error } = useExplanation(referral.id)
  const money = useMoney()
  if (!data && !error) return null
  const sentences = data?.sentences.map(sentenceHere) ?? []
  return (
    <Card component="section" aria-label="Why" sx={{ p: 2, mt: 2 }}>
      <Stack direction="row" sx={{ gap: 1, alignItems: 'center', mb: 1 }}>
        <Typography variant="h2">Why</Typography>
        {data && data.conversion_id > 0 && (
          <Typography variant="body2">
            Conversion <RecordLink kind="conversion" id={data.conversion_id} />, with its refunds
          </Typography>
        )}
        {data && (
          <CopyButton text={[subjectOf(referral, money.full), ...sentences].join('\n')} name="explanation" />
        )}
      </Stack>
      {error && <Typography variant="body2">{messageOf(error)}</Typography>}
      {sentences.map(sentence => (
        <Typography key={sentence} variant="body2" sx={{ mb: 0.5 }}>
          {sentence}
        </Typography>
      ))}
      {data?.status === 'draft' && <EndOfDraft explanation={data} date={referral.date} />}
    </Card>
  )
}

/** What an explanation that is sent to somebody is about. */
function subjectOf({ id, date, reference, amount, status }: Referral, money: (amount: string) => string) {
  const order = reference && `, ${reference}`
  return `${nameOf({ id })} of ${day(date)}${order}${status === 'draft' ? '' : `: ${money(amount)}`}`
}

const next = { mt: 1 }

/** Leads to what gives a draft its amount. One that is too large gets it in its own form. */
function EndOfDraft({ explanation, date }: { explanation: Explanation; date: string }) {
  if (explanation.reason === 'no_exchange_rate') {
    const known = queryOf({ from_currency: explanation.original_currency, date: date.slice(0, 10) })
    return (
      <Allowed to="exchange-rates.create">
        <Button component={Link} variant="outlined" sx={next} to={`/exchange-rates/create?${known}`}>
          Enter the exchange rate
        </Button>
      </Allowed>
    )
  }
  if (explanation.reason !== 'no_rule') return null
  return (
    <Allowed to="rules.create">
      <Button component={Link} variant="outlined" sx={next} to="/rules/create">
        Create a rule
      </Button>
    </Allowed>
  )
}
