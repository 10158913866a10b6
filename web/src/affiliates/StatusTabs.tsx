import { Box, ToggleButton, ToggleButtonGroup } from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import { useListContext } from 'react-admin'
import { get, queryOf } from '../api.ts'
import { count } from '../ui/format.ts'
import { statuses } from './affiliate.tsx'

interface Totals {
  count: number
  by_status: Record<string, number>
}

/** The states with how many are in each, which narrow the list when they are chosen. */
export function StatusTabs() {
  const { filterValues, setFilters } = useListContext()
  const { status = 'all', ...others } = filterValues
  const query = queryOf(others)
  const { data, isPlaceholderData } = useQuery({
    queryKey: ['affiliates', 'totals', query],
    queryFn: () => get<Totals>(`affiliates/totals?${query}`),
    placeholderData: before => before,
  })
  const choose = (chosen: string | null) => {
    if (chosen) setFilters(chosen === 'all' ? others : { ...others, status: chosen })
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
            {value.charAt(0).toUpperCase() + value.slice(1)}
            <Box
              component="span"
              sx={{ color: 'text.secondary', fontVariantNumeric: 'tabular-nums', fontWeight: 400 }}
            >
              {data ? count(value === 'all' ? data.count : (data.by_status[value] ?? 0)) : '…'}
            </Box>
          </ToggleButton>
        ))}
      </ToggleButtonGroup>
    </Box>
  )
}
