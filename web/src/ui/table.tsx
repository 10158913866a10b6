import { Link } from '@mui/material'
import { createContext, Fragment, type ReactNode, useContext } from 'react'
import { Link as RouterLink } from 'react-router-dom'

/** Figures stand under each other, digit by digit. */
export const figures = {
  fontVariantNumeric: 'tabular-nums',
  textAlign: 'right',
  whiteSpace: 'nowrap',
} as const

/** Whether what is drawn is part of a link as a whole, as a card is: there is no link within a link. */
export const InsideLink = createContext(false)

/** The name of a row, which leads to its page: what the keyboard and the screen reader have instead of the row. */
export function RowLink({ to, children }: { to: string; children: ReactNode }) {
  if (useContext(InsideLink)) return <>{children}</>
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
