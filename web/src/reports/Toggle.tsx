import { ToggleButton, ToggleButtonGroup } from '@mui/material'

export function Toggle<V extends string>({
  label,
  value,
  choices,
  onChange,
}: {
  label: string
  /** '' selects none. */
  value: V | ''
  choices: readonly { value: V; label: string }[]
  onChange: (value: V) => void
}) {
  return (
    <ToggleButtonGroup
      exclusive
      size="small"
      value={value}
      aria-label={label}
      onChange={(_, value: V | null) => value && onChange(value)}
    >
      {choices.map(choice => (
        <ToggleButton
          key={choice.value}
          value={choice.value}
          sx={{ textTransform: 'none', px: 1.5, py: 0.5 }}
        >
          {choice.label}
        </ToggleButton>
      ))}
    </ToggleButtonGroup>
  )
}
