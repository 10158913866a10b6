import { Button, Typography } from '@mui/material'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { type RaRecord, useNotify, useRefresh } from 'react-admin'
import { request } from '../api.ts'
import { Allowed } from './Allowed.tsx'
import { Confirm } from './Confirm.tsx'
import type { RecordPages } from './pages.ts'

/** Erases the personal data of a person who asked for it. @param children what is erased, and what stays */
export function Erase({
  of,
  record: { id },
  name,
  needs,
  children,
}: {
  of: RecordPages
  record: RaRecord<number>
  name: string
  needs: string
  children: ReactNode
}) {
  const notify = useNotify()
  const refresh = useRefresh()
  const queryClient = useQueryClient()
  const [asking, setAsking] = useState(false)
  const confirm = async () => {
    await request('POST', `erasures/${of.resource}/${id}`)
    notify(`Personal data of ${of.name[0].toLowerCase()} ${id} erased`, { type: 'success' })
    refresh()
    await queryClient.invalidateQueries()
  }
  return (
    <Allowed to={needs}>
      <Button color="error" onClick={() => setAsking(true)}>
        Erase personal data
      </Button>
      <Confirm
        open={asking}
        title={`Erase the personal data of ${name}?`}
        action="Erase"
        onConfirm={confirm}
        onClose={() => setAsking(false)}
      >
        <Typography>{children}</Typography>
        <Typography>
          It cannot be undone. Backups that were made before still hold what was erased: remove them when
          their time has come.
        </Typography>
      </Confirm>
    </Allowed>
  )
}
