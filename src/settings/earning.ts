/** Settings of earning and paying. */
import { group, oneOf, yesOrNo } from './setting.ts'

export const earning = group({
  unique_references: yesOrNo(
    'uniqueReferences',
    true,
    'Whether context, reference and type must be unique among the referrals of an affiliate, if neither context nor reference is empty; rejected referrals, refunds and write-offs are not counted, nor are referrals that were recorded while it was off. Turn it off for shops whose references are not unique.',
  ),
  unknown_referrals: oneOf(
    'unknownReferrals',
    ['keep', 'refuse'],
    'What happens to identifiers in a payout that do not belong to referrals here: they are kept as those of another system, or refused.',
  ),
})
