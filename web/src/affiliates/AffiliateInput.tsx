import { useCallback } from 'react'
import {
  type AutocompleteInputProps,
  ChoicesContextProvider,
  ReferenceInput,
  useChoicesContext,
  useReference,
} from 'react-admin'
import { useWatch } from 'react-hook-form'
import { RecordChoice } from '../ui/RecordChoice.tsx'
import { type Affiliate, deletedName } from './affiliate.tsx'
import { useAffiliate } from './useAffiliate.ts'

type Props = Pick<AutocompleteInputProps, 'validate' | 'helperText' | 'disabled' | 'sx'> & {
  /**
   * Label of an affiliate in the field and its options. Must keep its identity across renders: a new function makes
   * the autocomplete reset the text that is being typed.
   */
  nameOf: (affiliate: Affiliate) => string
}

/** Selects an affiliate, in forms and filters. */
export function AffiliateInput(props: Props) {
  return (
    <ReferenceInput source="affiliate_id" reference="affiliates" sort={{ field: 'id', order: 'DESC' }}>
      <Choices {...props} />
    </ReferenceInput>
  )
}

/** Of a deleted affiliate only the identifier is left. */
type Choice = Affiliate | { readonly id: number; readonly user?: undefined }

/**
 * Keeps a deleted affiliate selected, which the server no longer offers, until another one is chosen. When a number is
 * searched for, the affiliate with that identifier comes first.
 */
function Choices({ nameOf, ...rest }: Props) {
  const context = useChoicesContext<Choice>()
  const id: number | null | undefined = useWatch({ name: 'affiliate_id' })
  const { isDeleted } = useAffiliate(id)
  const typed = Number(context.filterValues?.search ?? Number.NaN)
  const { referenceRecord: numbered } = useReference<Affiliate>({
    reference: 'affiliates',
    id: typed,
    options: { enabled: Number.isSafeInteger(typed) && typed > 0 },
  })
  const first = [...(isDeleted ? [{ id: id! }] : []), ...(numbered ? [numbered] : [])]
  const otherChoices = (context.allChoices ?? []).filter(choice =>
    first.every(firstChoice => firstChoice.id !== choice.id),
  )
  const choices = Object.assign({}, context, { allChoices: [...first, ...otherChoices] })
  const optionText = useCallback(
    (affiliate?: Choice) => {
      if (affiliate?.user) return nameOf(affiliate)
      return affiliate?.id ? deletedName(affiliate.id) : ''
    },
    [nameOf],
  )
  return (
    <ChoicesContextProvider value={choices}>
      <RecordChoice label="Affiliate" optionText={optionText} {...rest} />
    </ChoicesContextProvider>
  )
}
