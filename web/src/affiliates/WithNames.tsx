import { Fragment } from 'react'
import { AffiliateName } from './AffiliateName.tsx'

/** A sentence of the service, in which affiliates are numbers, with their names: it keeps none, so that they can be erased. */
export function WithNames({ text }: { text: string }) {
  return text.split(/\b[Aa]ffiliate (\d+)\b/).map((part, place) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a sentence have no name but their place
    <Fragment key={place}>{place % 2 === 0 ? part : <AffiliateName id={Number(part)} link />}</Fragment>
  ))
}
