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
      await copyText(text, event.currentTarget)
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
      // Large enough for a finger, in a line that is no higher for it.
      sx={{ p: '5px', my: '-3px', ml: '1px', mr: '-3px', '& svg': { fontSize: 15 } }}
    >
      {copied ? <CheckIcon /> : <CopyIcon />}
    </IconButton>
  )
}

/**
 * @param beside what was pressed: a dialog takes the focus back from what is selected elsewhere
 * @throws Error if nothing was copied
 */
export async function copyText(text: string, beside: Element): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    // Without TLS there is no clipboard API, and the browser may refuse it: a selection can still be copied.
    copySelected(text, beside)
  }
}

function copySelected(text: string, beside: Element): void {
  const area = Object.assign(document.createElement('textarea'), { value: text })
  const focused = document.activeElement
  beside.after(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  if (focused instanceof HTMLElement) focused.focus()
  if (!isCopied) throw new Error('Nothing was copied')
}
