import { Link } from '@mui/material'
import { Fragment, type ReactNode } from 'react'
import { Link as RouterLink } from 'react-router-dom'

/** Figures stand under each other, digit by digit. */
export const figures = {
  fontVariantNumeric: 'tabular-nums',
  textAlign: 'right',
  whiteSpace: 'nowrap',
} as const

/** The name of a row, which leads to its page: what the keyboard and the screen reader have instead of the row. */
export function RowLink({ to, children }: { to: string; children: ReactNode }) {
  return (
    <Link
      component={RouterLink}
      to={to}
      color="inherit"
      onClick={event => event.stopPropagation()}
      onAuxClick={event => event.stopPropagation()}
    >
      {children}
    </Link>
  )
}

/** Text without spaces, such as an e-mail address, breaks behind its punctuation where it has to. */
export function Breakable({ text = '' }: { text?: string | undefined }) {
  return (
    <bdi>
      {text.split(/(?<=[@._-])/).map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no name but their place
        <Fragment key={index}>
          {index > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </bdi>
  )
}
