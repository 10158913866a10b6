import { Alert, Box, Button, TextField } from '@mui/material'
import { useState } from 'react'
import { messageOf, request } from '../api.ts'

/** Shows what a sample would be read as; nothing is kept. */
export function Trial({ id }: { id: number }) {
  const [sample, setSample] = useState('')
  const [answer, setAnswer] = useState<{ text: string; isProblem: boolean }>()
  const read = async () => {
    try {
      const payload: unknown = JSON.parse(sample)
      const { body } = await request<object>('POST', `sources/${id}/try`, { body: { payload } })
      setAnswer({ text: JSON.stringify(body, null, 2), isProblem: false })
    } catch (error) {
      const text = error instanceof SyntaxError ? 'The sample is no JSON.' : messageOf(error)
      setAnswer({ text, isProblem: true })
    }
  }
  return (
    <Box sx={{ mt: 2, width: '100%' }}>
      <TextField
        label="Sample of a delivery"
        multiline
        minRows={2}
        maxRows={12}
        fullWidth
        value={sample}
        onChange={({ target }) => setSample(target.value)}
        helperText="Paste the JSON of one to see what it would be read as. Nothing is kept."
      />
      <Button onClick={read} disabled={sample.trim() === ''} sx={{ mt: 1 }}>
        Try
      </Button>
      {answer && (
        <Alert severity={answer.isProblem ? 'error' : 'info'} sx={{ mt: 1 }} role="status">
          <Box component="pre" sx={{ m: 0, whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
            {answer.text}
          </Box>
        </Alert>
      )}
    </Box>
  )
}
