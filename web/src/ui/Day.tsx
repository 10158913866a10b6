import { Typography } from '@mui/material'
import { day, time } from './format.ts'

/** A day, with its time where it is pointed at. @param text as the server writes times; '' is none */
export function Day({ text, none = '–' }: { text: string | null | undefined; none?: string }) {
  if (!text) return <>{none}</>
  return (
    <Typography component="span" variant="inherit" noWrap title={time(text)}>
      {day(text)}
    </Typography>
  )
}
