import type { RaRecord } from 'react-admin'
import type { Static } from 'typebox'
import type { link } from '../../../src/programme/links/link.ts'

export type Link = Static<(typeof link)['record']> & RaRecord<number>

export const nameOf = ({ code }: Link) => `Link ${code}`

/** The public address of a link. @param visitorUrl where visitors reach the service */
export function addressOf({ code }: Pick<Link, 'code'>, visitorUrl: string, to = ''): string {
  const url = new URL(`${visitorUrl}/r/${code}`)
  if (to !== '') url.searchParams.set('to', to)
  return url.href
}
