/**
 * Checkboxes for the unpaid referrals that a payout can pay. The amount follows the selection until someone types
 * another one. Another affiliate has other referrals, so the selection starts anew.
 */
import { Box, Checkbox, FormControlLabel, Link, List, ListItem, Stack, Typography } from '@mui/material'
import { type RefObject, useEffect, useRef } from 'react'
import { useDataProvider, useGetList } from 'react-admin'
import { useFormContext, useWatch } from 'react-hook-form'
import { Link as RouterLink } from 'react-router-dom'
import { useBalances } from '../ledger/owed.ts'
import type { Referral } from '../referrals/referral.ts'
import { useAfterRefusal } from '../ui/form.tsx'
import { day, plural, useMoney } from '../ui/format.ts'
import { Problem } from '../ui/Page.tsx'
import { figures } from '../ui/table.tsx'
import { numbersIn, sumOf } from './sum.ts'

/** Referrals listed at most: for more, use a payout run. */
const MOST = 500

export function UnpaidReferrals() {
  const affiliate: number | null | undefined = useWatch({ name: 'affiliate_id' })
  const lastSum = useRef('')
  useClearedFor(affiliate, lastSum)
  return affiliate ? <OfAffiliate key={affiliate} affiliateId={affiliate} lastSum={lastSum} /> : null
}

/** Empties what was filled in for the affiliate who was chosen before, but no amount that someone has typed. */
function useClearedFor(affiliate: number | null | undefined, lastSum: RefObject<string>) {
  const { setValue, getValues } = useFormContext()
  const chosen = useRef(affiliate)
  useEffect(() => {
    const before = chosen.current
    chosen.current = affiliate
    if (!before || before === affiliate) return
    setValue('referrals', '', { shouldDirty: true, shouldValidate: true })
    if (lastSum.current !== '' && typedIn(getValues('amount')) === lastSum.current) {
      setValue('amount', '', { shouldDirty: true })
    }
    lastSum.current = ''
  }, [affiliate, lastSum, setValue, getValues])
}

const typedIn = (value: unknown) => String(value ?? '').trim()

/** The oldest unpaid referrals of an affiliate, up to the limit. */
export const unpaidOf = (affiliateId: number) => ({
  // What a run reserves, it pays.
  filter: { affiliate_id: affiliateId, status: 'unpaid', in_run: 'no' },
  pagination: { page: 1, perPage: MOST },
  sort: { field: 'date', order: 'ASC' as const },
})

/** The referrals that a payout has paid, up to the limit. */
export const paidBy = (payoutId: number) => ({
  filter: { payout_id: payoutId },
  pagination: { page: 1, perPage: MOST },
  sort: { field: 'date', order: 'ASC' as const },
})

function OfAffiliate({ affiliateId, lastSum }: { affiliateId: number; lastSum: RefObject<string> }) {
  const money = useMoney()
  const { data, total, error, refetch } = useGetList<Referral>('referrals', unpaidOf(affiliateId))
  const { ticked, setTicked } = useTicked(data ?? [], lastSum)
  const balances = useBalances(affiliateId)
  const hasReserved = Number(balances.data?.reserved ?? 0) !== 0
  const dataProvider = useDataProvider()
  useAfterRefusal(async () => {
    const latest = await dataProvider.getList<Referral>('referrals', unpaidOf(affiliateId))
    const unpaid = new Set(latest.data.map(({ id }) => id))
    if (ticked.some(({ id }) => !unpaid.has(id))) setTicked(ticked.filter(({ id }) => unpaid.has(id)))
    await Promise.all([refetch(), balances.refetch()])
  })
  const problem = error && <Problem error={error} retry={() => refetch()} />
  if (!data) return problem
  if (data.length === 0) {
    return (
      <Typography variant="body2" sx={{ color: 'text.secondary' }}>
        This affiliate has no unpaid referrals{hasReserved && ' that no payout run pays'}.
      </Typography>
    )
  }
  const areAllTicked = ticked.length === data.length
  return (
    <Box component="fieldset" sx={{ m: 0, p: 0, border: 0, minWidth: 0 }}>
      {problem}
      <Stack direction="row" sx={{ justifyContent: 'space-between', alignItems: 'center', flexWrap: 'wrap' }}>
        <Typography component="legend" variant="h3" sx={{ float: 'left' }}>
          Unpaid referrals
        </Typography>
        <FormControlLabel
          control={
            <Checkbox
              size="small"
              checked={areAllTicked}
              indeterminate={ticked.length > 0 && !areAllTicked}
              onChange={() => setTicked(areAllTicked ? [] : data)}
            />
          }
          label={`All ${plural(data.length, 'referral')}, ${money.full(sumOf(data))}`}
          sx={{ mr: 0 }}
        />
      </Stack>
      <Ticks referrals={data} ticked={ticked} onChange={setTicked} />
      <Typography role="status" variant="body2" sx={{ mt: 1, fontVariantNumeric: 'tabular-nums' }}>
        {plural(ticked.length, 'referral')} ticked, <strong>{money.full(sumOf(ticked))}</strong> in all.
        {total !== undefined && total > data.length && ` The oldest ${MOST} of ${total} are listed.`}
        {hasReserved && ' What a payout run has reserved is not listed: record its outcome there.'}
      </Typography>
    </Box>
  )
}

function Ticks({
  referrals,
  ticked,
  onChange,
}: {
  referrals: Referral[]
  ticked: Referral[]
  onChange: (ticked: Referral[]) => void
}) {
  return (
    <List
      dense
      disablePadding
      aria-label="Unpaid referrals"
      tabIndex={0}
      sx={{ maxHeight: 264, overflowY: 'auto', border: 1, borderColor: 'divider', borderRadius: 2 }}
    >
      {referrals.map(referral => (
        <Tick
          key={referral.id}
          referral={referral}
          checked={ticked.includes(referral)}
          onChange={() =>
            onChange(
              ticked.includes(referral)
                ? ticked.filter(tickedReferral => tickedReferral !== referral)
                : referrals.filter(one => one === referral || ticked.includes(one)),
            )
          }
        />
      ))}
    </List>
  )
}

function Tick({
  referral,
  checked,
  onChange,
}: {
  referral: Referral
  checked: boolean
  onChange: () => void
}) {
  const money = useMoney()
  const { id, amount, date, description, reference } = referral
  return (
    <ListItem divider sx={{ py: 0, gap: 1 }}>
      <FormControlLabel
        control={<Checkbox size="small" checked={checked} onChange={onChange} />}
        label={
          <Typography variant="body2" component="span" sx={{ overflowWrap: 'anywhere' }}>
            {day(date)} · <bdi>{description || reference || `referral ${id}`}</bdi>
          </Typography>
        }
        sx={{ flex: 1, minWidth: 0 }}
      />
      <Link component={RouterLink} to={`/referrals/${id}/show`} variant="body2" target="_blank">
        #{id}
      </Link>
      <Box sx={{ ...figures, fontSize: '0.875rem', minWidth: 76 }}>{money.full(amount)}</Box>
    </ListItem>
  )
}

/**
 * The selection is derived from the text field with the referral numbers, so the two cannot disagree. The amount is the
 * sum of the selection unless someone has typed another one.
 * @param lastSum what the selection has put there; it outlives the list of an affiliate
 */
function useTicked(referrals: Referral[], lastSum: RefObject<string>) {
  const { setValue, getValues } = useFormContext()
  const numbers = numbersIn(useWatch({ name: 'referrals' }))
  const ticked = referrals.filter(({ id }) => numbers.includes(id))
  const setTicked = (selection: Referral[]) => {
    const otherNumbers = numbers.filter(number => referrals.every(({ id }) => id !== number))
    const allNumbers = [...selection.map(({ id }) => id), ...otherNumbers]
    setValue('referrals', allNumbers.join(', '), { shouldDirty: true, shouldValidate: true })
    const typed = typedIn(getValues('amount'))
    if (typed !== '' && typed !== lastSum.current) return
    lastSum.current = selection.length > 0 ? sumOf(selection) : ''
    setValue('amount', lastSum.current, { shouldDirty: true, shouldValidate: lastSum.current !== '' })
  }
  return { ticked, setTicked }
}
