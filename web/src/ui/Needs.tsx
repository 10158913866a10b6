import { Alert } from '@mui/material'
import type { ReactNode } from 'react'
import { permissionNamed, useCan } from '../session.tsx'
import { Page } from './Page.tsx'

interface NeedsProps {
  /** The permission, if one is needed. */
  readonly to: string | undefined
  readonly title: string
  readonly children: ReactNode
}

/** Says which permission is missing, instead of what the server would refuse. */
export function Needs({ to, title, children }: NeedsProps) {
  const can = useCan()
  if (to === undefined || can(to)) return children
  return (
    <Page title={title} narrow>
      <Alert severity="info">
        This needs the permission {permissionNamed(to)}, which your role does not have.
      </Alert>
    </Page>
  )
}
