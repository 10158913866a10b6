import DownloadIcon from '@mui/icons-material/FileDownloadOutlined'
import { Button, type ButtonProps } from '@mui/material'
import { type MouseEvent, useState } from 'react'
import { useNotify } from 'react-admin'
import { download, messageOf } from '../api.ts'

/** Download of an export: a plain link, so that its address can be copied or opened like any other. */
export function ExportLink({
  href,
  label = 'Export CSV',
  by = download,
  onDownload,
  ...rest
}: { href: string; label?: string; by?: typeof download; onDownload?: () => void } & ButtonProps) {
  const notify = useNotify()
  const [busy, setBusy] = useState(false)
  return (
    <Button
      component="a"
      href={href}
      startIcon={<DownloadIcon />}
      disabled={busy}
      {...rest}
      onClick={async (event: MouseEvent) => {
        event.preventDefault()
        setBusy(true)
        try {
          await by(href)
          onDownload?.()
        } catch (error) {
          notify(messageOf(error), { type: 'error' })
        } finally {
          setBusy(false)
        }
      }}
    >
      {label}
    </Button>
  )
}
