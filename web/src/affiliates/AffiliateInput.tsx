import { useCallback } from 'react'
import {
  AutocompleteInput,
  type AutocompleteInputProps,
  ChoicesContextProvider,
  ReferenceInput,
  useChoicesContext,
  useReference,
} from 'react-admin'
import { useWatch } from 'react-hook-form'
import { type Affiliate, deletedName } from './affiliate.tsx'

type Props = Pick<AutocompleteInputProps, 'validate' | 'helperText' | 'sx'> & {
  /** How an affiliate is called in the field and among what it offers. The same function each time: another one erases what is being typed. */
  nameOf: (affiliate: Affiliate) => string
}

/** The affiliate of a payout, or of the payouts that are listed. */
export function AffiliateInput(props: Props) {
  return (
    <ReferenceInput source="affiliate_id" reference="affiliates" sort={{ field: 'id', order: 'DESC' }}>
      <Choices {...props} />
    </ReferenceInput>
  )
}

/** A deleted affiliate is nothing but its identifier. */
type Choice = Affiliate | { readonly id: number; readonly user?: undefined }

/**
 * One that was deleted is no longer offered by the server, and stays what it is until another one is chosen. Of all that a
 * number finds, the affiliate that has it comes first.
 */
function Choices({ nameOf, ...rest }: Props) {
  const context = useChoicesContext<Choice>()
  const id: number | null | undefined = useWatch({ name: 'affiliate_id' })
  const { referenceRecord, isPending, error } = useReference<Affiliate>({
    reference: 'affiliates',
    id: id!,
    options: { enabled: Boolean(id) },
  })
  const typed = Number(context.filterValues?.search ?? Number.NaN)
  const { referenceRecord: numbered } = useReference<Affiliate>({
    reference: 'affiliates',
    id: typed,
    options: { enabled: Number.isSafeInteger(typed) && typed > 0 },
  })
  const isDeleted = Boolean(id) && !isPending && !error && !referenceRecord
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
      <AutocompleteInput label="Affiliate" optionText={optionText} filterToQuery={queryOfSearch} {...rest} />
    </ChoicesContextProvider>
  )
}

const queryOfSearch = (search: string) => (search ? { search } : {})
