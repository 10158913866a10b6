import { Alert } from '@mui/material'
import type { ReactNode } from 'react'
import { permissionNamed, useCan } from '../session.tsx'
import { Page } from './Page.tsx'

/** Says which permission is missing, instead of a form that the server would refuse. */
export function Needs({ to, title, children }: { to: string; title: string; children: ReactNode }) {
  if (useCan()(to)) return children
  return (
    <Page title={title} narrow>
      <Alert severity="info">
        This needs the permission {permissionNamed(to)}, which your role does not have.
      </Alert>
    </Page>
  )
}
