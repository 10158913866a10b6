import { Alert } from '@mui/material'
import { useMoney } from '../ui/format.ts'
import { useBalances } from './owed.ts'

/** Warns that somebody is still owed money, who can hardly be paid any more once they are erased. */
export function OwedBeforeErasure({ affiliateId }: { affiliateId: number }) {
  const money = useMoney()
  const { data } = useBalances(affiliateId)
  if (!data) return null
  const sentences = [
    Number(data.reserved) !== 0 &&
      `${money.full(data.reserved)} are reserved in an approved payout run: the files of the run no longer name them, so record the outcome of that payment by hand.`,
    Number(data.unpaid) !== 0 &&
      `${money.full(data.unpaid)} are unpaid: pay or write it off first, since the payment details are erased as well.`,
    Number(data.pending) !== 0 && `${money.full(data.pending)} are pending.`,
  ].filter(sentence => sentence !== false)
  if (sentences.length === 0) return null
  return (
    <Alert severity="warning" component="span" sx={{ mt: 1.5 }}>
      {sentences.join(' ')}
    </Alert>
  )
}
