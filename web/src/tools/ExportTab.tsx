import {
  Card,
  FormControl,
  FormControlLabel,
  FormLabel,
  Radio,
  RadioGroup,
  Stack,
  Typography,
} from '@mui/material'
import { useState } from 'react'
import { API } from '../api.ts'
import { ExportLink } from '../ui/ExportLink.tsx'

/** Everything there is, as a file. */
export function ExportTab() {
  const [what, setWhat] = useState('affiliates')
  const [format, setFormat] = useState('csv')
  return (
    <Card sx={{ p: { xs: 2, sm: 3 }, maxWidth: 640 }}>
      <Stack sx={{ gap: 2.5, alignItems: 'flex-start' }}>
        <Typography sx={{ color: 'text.secondary' }}>
          Downloads all affiliates or all payouts. To export a part, narrow the list on its own page and use
          Export CSV there.
        </Typography>
        <Choice
          label="What"
          value={what}
          onChange={setWhat}
          choices={[
            ['affiliates', 'Affiliates'],
            ['payouts', 'Payouts'],
          ]}
        />
        <Choice
          label="Format"
          value={format}
          onChange={setFormat}
          choices={[
            ['csv', 'CSV, for spreadsheets'],
            ['ndjson', 'NDJSON, one record a line, for programs'],
          ]}
        />
        <ExportLink href={`${API}/exports/${what}?format=${format}`} label="Download" variant="contained" />
      </Stack>
    </Card>
  )
}

function Choice({
  label,
  value,
  onChange,
  choices,
}: {
  label: string
  value: string
  onChange: (value: string) => void
  choices: [string, string][]
}) {
  return (
    <FormControl component="fieldset">
      <FormLabel component="legend">{label}</FormLabel>
      <RadioGroup value={value} onChange={(_, chosen) => onChange(chosen)}>
        {choices.map(([choice, text]) => (
          <FormControlLabel key={choice} value={choice} control={<Radio size="small" />} label={text} />
        ))}
      </RadioGroup>
    </FormControl>
  )
}
