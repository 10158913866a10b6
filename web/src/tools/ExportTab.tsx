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
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { API, pathsBelow } from '../api.ts'
import { nameOfResource } from '../names.ts'
import { ExportLink } from '../ui/ExportLink.tsx'
import { Problem } from '../ui/Page.tsx'
import { Waiting } from '../ui/Waiting.tsx'

/** Downloads of all records. */
export function ExportTab() {
  const { data, error, refetch } = useQuery({ queryKey: ['exports'], queryFn: () => pathsBelow('exports') })
  const [chosen, setChosen] = useState<string>()
  const [format, setFormat] = useState('csv')
  if (error) return <Problem error={error} retry={() => refetch()} />
  if (!data) return <Waiting />
  const choices = data.map((name): [string, string] => [name, nameOfResource(name)])
  choices.sort(([, labelA], [, labelB]) => labelA.localeCompare(labelB))
  const resource = chosen ?? choices[0]![0]
  return (
    <Card sx={{ p: { xs: 2, sm: 3 }, maxWidth: 640 }}>
      <Stack sx={{ gap: 2.5, alignItems: 'flex-start' }}>
        <Typography sx={{ color: 'text.secondary' }}>
          Downloads all records of a kind. To export a part, narrow the list on its own page and use Export
          CSV there.
        </Typography>
        <Choice label="What" value={resource} onChange={setChosen} choices={choices} />
        <Choice
          label="Format"
          value={format}
          onChange={setFormat}
          choices={[
            ['csv', 'CSV, for spreadsheets'],
            ['ndjson', 'NDJSON, one record a line, for programs'],
          ]}
        />
        <ExportLink
          href={`${API}/exports/${resource}?format=${format}`}
          label="Download"
          variant="contained"
        />
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
