import type { RaRecord } from 'react-admin'
import type { Static } from 'typebox'
import type { link } from '../../../src/programme/links/link.ts'

export type Link = Static<(typeof link)['record']> & RaRecord<number>

export const nameOf = ({ code }: Link) => `Link ${code}`

/** The public address of a link. Assumes that visitors reach the service on the same host as this area. */
export function addressOf({ code }: Pick<Link, 'code'>, to = ''): string {
  const url = new URL(`/r/${code}`, location.origin)
  if (to !== '') url.searchParams.set('to', to)
  return url.href
}
