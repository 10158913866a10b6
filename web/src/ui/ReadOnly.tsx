import { Alert, Box, ThemeProvider } from '@mui/material'
import type { Theme } from '@mui/material/styles'
import { createContext, type ReactNode } from 'react'
import { permissionNamed } from '../session.tsx'

/** Whether the form can be changed by nobody who sees it. */
export const Locked = createContext(false)

/** What is disabled around a field does not reach those that a browser does not know: lists, and how all of them look. */
const fields = ['MuiTextField', 'MuiFormControl', 'MuiAutocomplete', 'MuiFormControlLabel'] as const

const withFieldsDisabled = ({ components = {}, ...theme }: Theme): Theme => ({
  ...theme,
  components: {
    ...components,
    ...Object.fromEntries(
      fields.map(name => {
        const { defaultProps, ...rest } = components[name] ?? {}
        return [name, { ...rest, defaultProps: { ...defaultProps, disabled: true } }]
      }),
    ),
  },
})

/** What cannot be changed is there to be read. */
const look = {
  border: 0,
  p: 0,
  m: 0,
  minWidth: 0,
  '& .MuiInputBase-root.Mui-disabled': { bgcolor: 'action.hover' },
  '& .MuiInputBase-input.Mui-disabled': { color: 'text.secondary', WebkitTextFillColor: 'currentcolor' },
  '& button:disabled': { color: 'text.disabled' },
} as const

/** The form for users without edit permission: disabled, with an explanation. */
export function ReadOnly({ needs, children }: { needs: string; children: ReactNode }) {
  return (
    <Locked value={true}>
      <Alert severity="info" sx={{ mb: 2 }}>
        Read-only: changing this needs the permission {permissionNamed(needs)}, which your role does not have.
      </Alert>
      <Box component="fieldset" disabled sx={look}>
        <ThemeProvider theme={withFieldsDisabled}>{children}</ThemeProvider>
      </Box>
    </Locked>
  )
}
