import { Fragment } from 'react'
import { sentenceHere } from '../ui/numbers.ts'
import { AffiliateName } from './AffiliateName.tsx'

/**
 * A sentence from the server with each "affiliate 7" replaced by that affiliate's name. The server stores identifiers
 * only, so that names can be erased.
 */
export function WithNames({ text }: { text: string }) {
  return sentenceHere(text)
    .split(/\b[Aa]ffiliate (\d+)\b/)
    .map((part, place) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a sentence have no key but their position
      <Fragment key={place}>{place % 2 === 0 ? part : <AffiliateName id={Number(part)} link />}</Fragment>
    ))
}
