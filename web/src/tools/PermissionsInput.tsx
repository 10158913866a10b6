import {
  Box,
  Button,
  Checkbox,
  FormHelperText,
  Stack,
  Table,
  TableBody,
  TableCell,
  TableContainer,
  TableHead,
  TableRow,
  Typography,
} from '@mui/material'
import { nameOfResource } from '../names.ts'
import { capital } from '../ui/words.ts'
import { matrixOf, readOnly } from './key.ts'

const dense = {
  '& tbody tr:last-of-type > *': { borderBottom: 0 },
  '& th, & td': { px: { xs: 0.25, sm: 1.5 } },
  '& th:first-of-type': { pl: 1.5 },
  '& .MuiCheckbox-root': { px: { xs: 0.5, sm: 1.125 } },
} as const

/**
 * Permission matrix of a key: a checkbox for each resource and action.
 * @param known the permissions to choose from
 */
export function PermissionsInput({
  known,
  chosen,
  onChange,
  problem,
}: {
  known: string[]
  chosen: string[]
  onChange: (permissions: string[]) => void
  problem?: string | undefined
}) {
  const { resources, actions } = matrixOf(known)
  const toggle = (permission: string) =>
    onChange(
      chosen.includes(permission)
        ? chosen.filter(selected => selected !== permission)
        : [...chosen, permission],
    )
  return (
    <Box role="group" aria-labelledby="permissions-label">
      <Stack
        direction="row"
        sx={{ justifyContent: 'space-between', alignItems: 'center', flexWrap: 'wrap', gap: 1, mb: 0.5 }}
      >
        <Typography id="permissions-label" variant="h3" component="h3">
          Permissions
        </Typography>
        <Presets known={known} onChange={onChange} />
      </Stack>
      <TableContainer sx={{ border: 1, borderColor: problem ? 'error.main' : 'divider', borderRadius: 2 }}>
        <Table size="small" sx={dense}>
          <TableHead>
            <TableRow>
              <TableCell>Resource</TableCell>
              {actions.map(action => (
                <TableCell key={action} align="center">
                  {capital(action)}
                </TableCell>
              ))}
            </TableRow>
          </TableHead>
          <TableBody>
            {resources.map(resource => (
              <ResourceRow
                key={resource}
                resource={resource}
                actions={actions}
                known={known}
                chosen={chosen}
                onToggle={toggle}
              />
            ))}
          </TableBody>
        </Table>
      </TableContainer>
      {problem && <FormHelperText error>{problem}</FormHelperText>}
    </Box>
  )
}

function Presets({ known, onChange }: { known: string[]; onChange: (permissions: string[]) => void }) {
  return (
    <Stack direction="row" sx={{ gap: 0.5 }}>
      <Button size="small" onClick={() => onChange(known)}>
        Full access
      </Button>
      <Button size="small" onClick={() => onChange(readOnly(known))}>
        Read-only
      </Button>
    </Stack>
  )
}

function ResourceRow({
  resource,
  actions,
  known,
  chosen,
  onToggle,
}: {
  resource: string
  actions: string[]
  known: string[]
  chosen: string[]
  onToggle: (permission: string) => void
}) {
  return (
    <TableRow>
      <TableCell component="th" scope="row" sx={{ color: 'text.primary' }}>
        {nameOfResource(resource)}
      </TableCell>
      {actions.map(action => {
        const permission = `${resource}.${action}`
        return (
          <TableCell key={action} align="center" sx={{ py: 0 }}>
            {known.includes(permission) && (
              <Checkbox
                checked={chosen.includes(permission)}
                onChange={() => onToggle(permission)}
                slotProps={{ input: { 'aria-label': `${nameOfResource(resource)}: ${action}` } }}
              />
            )}
          </TableCell>
        )
      })}
    </TableRow>
  )
}
