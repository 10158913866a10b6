import CheckIcon from '@mui/icons-material/Check'
import CopyIcon from '@mui/icons-material/ContentCopyOutlined'
import { IconButton } from '@mui/material'
import { type MouseEvent, useState } from 'react'
import { useNotify } from 'react-admin'

const CONFIRMED_MS = 2_000

/** Copies a text to the clipboard. @param name what it is, such as 'e-mail address' */
export function CopyButton({ text, name }: { text: string; name: string }) {
  const notify = useNotify()
  const [copied, setCopied] = useState(false)
  const copy = async (event: MouseEvent) => {
    event.stopPropagation()
    try {
      await copyText(text)
      setCopied(true)
      setTimeout(() => setCopied(false), CONFIRMED_MS)
    } catch {
      notify(`The browser does not allow it. Select the ${name} and copy it.`, { type: 'warning' })
    }
  }
  return (
    <IconButton
      size="small"
      aria-label={copied ? `Copied ${name}` : `Copy ${name}`}
      title={`Copy ${name}`}
      onClick={copy}
      sx={{ p: 0.25, ml: 0.5, '& svg': { fontSize: 15 } }}
    >
      {copied ? <CheckIcon /> : <CopyIcon />}
    </IconButton>
  )
}

/** Without TLS there is no clipboard API: copies a selection instead. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const area = Object.assign(document.createElement('textarea'), { value: text })
  const focused = document.activeElement
  document.body.append(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  if (focused instanceof HTMLElement) focused.focus()
  if (!isCopied) throw new Error('Nothing was copied')
}
