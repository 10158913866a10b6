import { Typography } from '@mui/material'
import { day, time } from './format.ts'

/** A date, with the time as its tooltip. @param text as the server writes times; '' shows `none` */
export function Day({ text, none = '–' }: { text: string | null | undefined; none?: string }) {
  if (!text) return <>{none}</>
  return (
    <Typography component="span" variant="inherit" noWrap title={time(text)}>
      {day(text)}
    </Typography>
  )
}
