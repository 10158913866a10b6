import CopyIcon from '@mui/icons-material/ContentCopyOutlined'
import {
  Alert,
  Box,
  Button,
  Dialog,
  DialogActions,
  DialogContent,
  DialogTitle,
  Stack,
  TextField,
  Typography,
} from '@mui/material'
import { type MouseEvent, useState } from 'react'
import { copyText } from '../ui/CopyButton.tsx'
import { useShownOnce } from '../ui/leaving.ts'
import type { ApiKey } from './key.ts'

export interface Generated extends ApiKey {
  token: string
}

/** Shows the token of a new key, once. */
export function TokenDialog({ generated, onClose }: { generated: Generated; onClose: () => void }) {
  const [said, setSaid] = useState('')
  useShownOnce('The token is shown only now. Leave the page all the same?')
  const copy = ({ currentTarget }: MouseEvent) =>
    copyText(generated.token, currentTarget).then(
      () => setSaid('The token is in the clipboard.'),
      () => setSaid('The browser does not allow it. Select the token and copy it.'),
    )
  return (
    <Dialog open aria-labelledby="token-title" maxWidth="sm">
      <DialogTitle id="token-title" sx={{ overflowWrap: 'anywhere' }}>
        API key <bdi>{generated.name}</bdi>
      </DialogTitle>
      <DialogContent>
        <Stack sx={{ gap: 2.5, pt: 1 }}>
          <Alert severity="warning">
            Copy the token now: it won't be shown again. Only a hash of it is kept.
          </Alert>
          <Stack direction="row" sx={{ gap: 1, alignItems: 'flex-start' }}>
            <TextField
              label="Token"
              value={generated.token}
              fullWidth
              slotProps={{ htmlInput: monospace, input: { readOnly: true } }}
            />
            <Button variant="contained" startIcon={<CopyIcon />} onClick={copy} autoFocus sx={{ height: 38 }}>
              Copy
            </Button>
          </Stack>
          <TextField
            label="Public key"
            value={generated.public_key}
            fullWidth
            slotProps={{ htmlInput: monospace, input: { readOnly: true } }}
          />
          <Example />
        </Stack>
      </DialogContent>
      <DialogActions>
        <Box role="status" sx={{ flex: 1, color: 'text.secondary', fontSize: '0.85rem' }}>
          {said}
        </Box>
        <Button onClick={onClose}>Done</Button>
      </DialogActions>
    </Dialog>
  )
}

function Example() {
  return (
    <Box>
      <Typography variant="body2" sx={{ color: 'text.secondary', mb: 0.5 }}>
        To try it:
      </Typography>
      <Box
        component="pre"
        tabIndex={0}
        sx={{
          m: 0,
          p: 1.5,
          borderRadius: 2,
          bgcolor: 'action.hover',
          overflowX: 'auto',
          fontSize: '0.8rem',
          fontFamily: 'ui-monospace, monospace',
        }}
      >
        {`curl -H 'Authorization: Bearer TOKEN' ${location.origin}/v1/affiliates`}
      </Box>
    </Box>
  )
}

const monospace = { style: { fontFamily: 'ui-monospace, monospace', fontSize: '0.85rem' } }
