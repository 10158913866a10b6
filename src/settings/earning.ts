/** Settings of earning and paying. */
import { group, oneOf, yesOrNo } from './setting.ts'

export const earning = group({
  unique_references: yesOrNo(
    'uniqueReferences',
    true,
    'Whether two referrals of an affiliate cannot have the same context, reference and type, where neither context nor reference is empty. Off for shops whose references are not unique.',
  ),
  unknown_referrals: oneOf(
    'unknownReferrals',
    ['keep', 'refuse'],
    'What becomes of identifiers in a payout that are no referrals here: they are kept as those of another system, or refused.',
  ),
})
