import { Alert, Box, Button, TextField, Typography } from '@mui/material'
import { useState } from 'react'
import type { Delivery } from '../../../src/programme/sources/report.ts'
import { messageOf, request } from '../api.ts'
import { capital } from '../ui/words.ts'

/** Tries the mapping on a sample delivery; nothing is saved. */
export function Trial({ id }: { id: number }) {
  const [sample, setSample] = useState('')
  const [delivery, setDelivery] = useState<Delivery>()
  const [problem, setProblem] = useState('')
  const readSample = async () => {
    setDelivery(undefined)
    setProblem('')
    try {
      const payload: unknown = JSON.parse(sample)
      setDelivery((await request<Delivery>('POST', `sources/${id}/try`, { body: { payload } })).body)
    } catch (error) {
      setProblem(error instanceof SyntaxError ? 'The sample is no JSON.' : messageOf(error))
    }
  }
  return (
    <Box sx={{ mt: 2, width: '100%' }}>
      <TextField
        label="Sample of a delivery"
        multiline
        minRows={2}
        maxRows={12}
        fullWidth
        value={sample}
        onChange={({ target }) => setSample(target.value)}
        helperText="Paste the JSON of a delivery to see how it would be read. Nothing is saved."
      />
      <Button onClick={readSample} disabled={sample.trim() === ''} sx={{ mt: 1 }}>
        Try
      </Button>
      {problem && (
        <Alert severity="error" sx={{ mt: 1 }} role="status">
          {problem}
        </Alert>
      )}
      {delivery && <Reading delivery={delivery} />}
    </Box>
  )
}

function Reading({ delivery: { conversions, names = [], ignored } }: { delivery: Delivery }) {
  return (
    <Alert severity={conversions.length > 0 ? 'success' : 'info'} sx={{ mt: 1 }} role="status">
      {conversions.length === 0 && (
        <Typography variant="body2">No conversion would follow from it. {ignored}</Typography>
      )}
      {conversions.map(conversion => (
        <Conversion key={JSON.stringify(conversion)} of={conversion} />
      ))}
      {names.length > 0 && <Typography variant="body2">Names of one payment: {names.join(', ')}.</Typography>}
    </Alert>
  )
}

/** The conversion's arguments as they would be recorded, one per line. */
function Conversion({ of: { kind, reference, ...rest } }: { of: Delivery['conversions'][number] }) {
  return (
    <Box sx={{ overflowWrap: 'anywhere' }}>
      <Typography variant="body2" sx={{ fontWeight: 580 }}>
        {capital(String(kind ?? 'no kind'))} <bdi>{String(reference ?? 'without a reference')}</bdi>
      </Typography>
      {leaves(rest).map(([name, value]) => (
        <Typography key={name} variant="body2">
          {capital(name)}: <bdi>{value}</bdi>
        </Typography>
      ))}
    </Box>
  )
}

/** Flattens nested values: 'customer email' with its value. */
function leaves(value: unknown, path: readonly string[] = []): [name: string, value: string][] {
  if (typeof value !== 'object' || value === null) return [[path.join(' '), String(value)]]
  return Object.entries(value).flatMap(([name, member]) => {
    // List positions are counted from 1.
    const step = Array.isArray(value) ? String(Number(name) + 1) : name.replaceAll('_', ' ')
    return leaves(member, [...path, step])
  })
}
