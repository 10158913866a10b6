import { Link } from '@mui/material'
import { createContext, Fragment, type ReactNode, useContext } from 'react'
import { Link as RouterLink } from 'react-router-dom'

/** Right-aligned figures with tabular digits. */
export const figures = {
  fontVariantNumeric: 'tabular-nums',
  textAlign: 'right',
  whiteSpace: 'nowrap',
} as const

/** Whether the content is inside a link, as on cards: links cannot be nested. */
export const InsideLink = createContext(false)

/** The name of a row, linked to its page: for the keyboard and screen readers, which cannot click the row. */
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

/** The longest part of an address that lists show. */
const MOST_SHOWN = 100

/** The address of a page, which strangers may have made very long: its record has all of it. */
export function PageAddress({ url }: { url: string }) {
  if (url.length <= MOST_SHOWN) return <Breakable text={url || '–'} />
  return (
    <span title={url}>
      <Breakable text={`${url.slice(0, MOST_SHOWN)}…`} />
    </span>
  )
}

/** Text without spaces, such as an e-mail address, may break after punctuation, and elsewhere where that is not enough. */
export function Breakable({ text = '' }: { text?: string | undefined }) {
  return (
    <bdi style={{ overflowWrap: 'anywhere' }}>
      <Parts of={text} />
    </bdi>
  )
}

/** Text that may break after punctuation. */
export function Parts({ of: text }: { of: string }) {
  return text.split(/(?<=[@._-])/).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no key but their position
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ))
}
