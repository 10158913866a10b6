/** The conditions of a rule, one line each. */
import AddIcon from '@mui/icons-material/Add'
import RemoveIcon from '@mui/icons-material/DeleteOutlined'
import { Button, IconButton, Stack, Typography } from '@mui/material'
import { required, SelectInput, TextInput } from 'react-admin'
import { useFieldArray, useFormContext, useFormState, useWatch } from 'react-hook-form'
import {
  definitions,
  type Field,
  fields,
  isAmountField,
  isNumberField,
} from '../../../src/programme/commission/conditions.ts'
import { ChoiceInput } from '../ui/form.tsx'
import { type Money, useMoney } from '../ui/format.ts'
import { isDecimal, withPoint } from '../ui/numbers.ts'
import { type ConditionRow, hows, howsOf, valueProblem } from './rule.ts'

const SOURCE = 'condition_rows'

const fieldChoices = fields.map(id => ({ id, name: definitions[id].label }))

export function Conditions() {
  const { fields: rows, append, remove } = useFieldArray({ name: SOURCE })
  const { errors } = useFormState()
  const problem = errors.conditions?.message
  return (
    <Stack sx={{ gap: 1.5 }}>
      {rows.map((row, place) => (
        <ConditionFields key={row.id} place={place} remove={() => remove(place)} />
      ))}
      {typeof problem === 'string' && (
        <Typography variant="body2" color="error">
          {problem}
        </Typography>
      )}
      <div>
        <Button startIcon={<AddIcon />} onClick={() => append({ field: 'product', how: 'is', value: '' })}>
          Add condition
        </Button>
      </div>
    </Stack>
  )
}

/** The first has a row of its own: beside others, its longer choices are cut off. */
const side = {
  columnGap: 1,
  // Its label stands on the border of a field.
  rowGap: 2,
  alignItems: { sm: 'flex-start' },
  '& > div': { flex: { sm: 1 }, minWidth: 0 },
  flexWrap: { sm: 'wrap' },
  '& > div:first-of-type': { flex: { sm: '1 0 100%' } },
}

function ConditionFields({ place, remove }: { place: number; remove: () => void }) {
  const source = (name: keyof ConditionRow) => `${SOURCE}.${place}.${name}`
  const field: Field | undefined = useWatch({ name: source('field') })
  const { getValues, setValue } = useFormContext()
  /**
   * Changing the field resets an operator that the new field does not have: products and amounts are compared
   * differently.
   */
  const keepHow = (field: Field) => {
    const possible = howsOf(field)
    if (!possible.includes(getValues(source('how'))))
      setValue(source('how'), possible[0], { shouldDirty: true })
  }
  return (
    <Stack direction={{ xs: 'column', sm: 'row' }} sx={side}>
      <SelectInput
        margin="none"
        source={source('field')}
        label="Of the sale"
        choices={fieldChoices}
        onChange={event => keepHow(event.target.value)}
        translateChoice={false}
        validate={required()}
        helperText={false}
      />
      <ChoiceInput
        source={source('how')}
        label="How"
        choices={howsOf(field).map(id => ({ id, name: hows[id] }))}
        missing="Choose how."
      />
      <ValueInput source={source('value')} field={field} howSource={source('how')} />
      <IconButton
        aria-label={`Remove condition ${place + 1}`}
        onClick={remove}
        sx={{ alignSelf: { xs: 'flex-end', sm: 'auto' } }}
      >
        <RemoveIcon />
      </IconButton>
    </Stack>
  )
}

function ValueInput({
  source,
  field,
  howSource,
}: {
  source: string
  field: Field | undefined
  howSource: string
}) {
  const money = useMoney()
  const { getValues } = useFormContext()
  const value = String(useWatch({ name: source }) ?? '').trim()
  const asksForNumber = field !== undefined && isNumberField(field)
  return (
    <TextInput
      source={source}
      label={asksForNumber ? 'Number' : 'Values'}
      parse={asksForNumber ? withPoint : typed => typed}
      validate={typed =>
        valueProblem({ field, how: getValues(howSource), value: String(typed ?? '') }, money.decimals)
      }
      helperText={field !== undefined && hintOf(field, value, money)}
    />
  )
}

function hintOf(field: Field, value: string, money: Money) {
  if (!isNumberField(field)) return 'With commas between them, and quotes around one that has a comma.'
  return isAmountField(field) && isDecimal(value) && `= ${money.full(value)}`
}
