import { Link } from '@mui/material'
import type { ReactNode } from 'react'
import { Link as RouterLink } from 'react-router-dom'
import { useCan } from '../session.tsx'

/** The name of an account, linked to its page for those who may open it. */
export function AccountLink({ id, children }: { id: number; children: ReactNode }) {
  const name = <bdi>{children}</bdi>
  if (!useCan()('users.read')) return name
  return (
    <Link component={RouterLink} to={`/users/${id}`}>
      {name}
    </Link>
  )
}
