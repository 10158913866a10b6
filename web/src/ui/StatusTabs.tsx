import { Box, ToggleButton, ToggleButtonGroup } from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import { useListContext } from 'react-admin'
import { get, queryOf } from '../api.ts'
import { count } from './format.ts'
import { capital } from './words.ts'

/** Count, and for records with amounts the sum. */
type Total = number | { count: number; sum: number | string }

interface Totals {
  count: number
  by_status: Record<string, Total>
}

const countOf = (total: Total = 0) => (typeof total === 'number' ? total : total.count)

/** Statuses with their counts; selecting one filters the list. */
export function StatusTabs({ resource, statuses }: { resource: string; statuses: readonly string[] }) {
  const { filterValues, setFilters } = useListContext()
  const { status = 'all', ...otherFilters } = filterValues
  const query = queryOf(otherFilters)
  const { data, isPlaceholderData } = useQuery({
    queryKey: [resource, 'totals', query],
    queryFn: () => get<Totals>(`${resource}/totals?${query}`),
    placeholderData: before => before,
  })
  const choose = (newStatus: string | null) => {
    if (newStatus) setFilters(newStatus === 'all' ? otherFilters : { ...otherFilters, status: newStatus })
  }
  return (
    <Box sx={{ overflowX: 'auto', mb: 2, pb: 0.25 }}>
      <ToggleButtonGroup
        exclusive
        size="small"
        value={status}
        onChange={(_, chosen) => choose(chosen)}
        aria-label="Status"
        aria-busy={isPlaceholderData}
      >
        {['all', ...statuses].map(value => (
          <ToggleButton
            key={value}
            value={value}
            sx={{ px: 1.5, gap: 0.75, textTransform: 'none', color: 'text.primary', whiteSpace: 'nowrap' }}
          >
            {capital(value)}
            <Box
              component="span"
              sx={{ color: 'text.secondary', fontVariantNumeric: 'tabular-nums', fontWeight: 400 }}
            >
              {data ? count(value === 'all' ? data.count : countOf(data.by_status[value])) : '…'}
            </Box>
          </ToggleButton>
        ))}
      </ToggleButtonGroup>
    </Box>
  )
}
