import { Alert } from '@mui/material'
import type { Difference } from '../contested.ts'
import { capital, fieldName } from '../ui/words.ts'

/**
 * What others have made of a record since its form was opened, which the form does not show.
 * @param changed what the form changes itself
 */
export function ChangedMeanwhile({
  differences,
  changed,
}: {
  differences: readonly Difference[]
  changed: object
}) {
  if (differences.length === 0) return null
  const sentences = differences.map(({ name, before, now }) => {
    const then = name in changed ? 'saving asks before it overwrites that' : 'that stays when you save'
    return `${capital(fieldName(name))}: ${now} in the place of ${before}; ${then}.`
  })
  return (
    <Alert severity="warning" role="status">
      Someone else has changed this since the form was opened. {sentences.join(' ')}
    </Alert>
  )
}
