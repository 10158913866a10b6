import type { OpenAnswer, OpenRequest, OpenRoute } from '../../http/open.ts'
import { type Coming, isName, type Tracking } from './tracking.ts'

/** What a link is asked for is answered anew each time, and nobody finds it by searching. */
const HEADERS = { 'Cache-Control': 'no-store', 'X-Robots-Tag': 'noindex' }

/**
 * The addresses that visitors follow.
 * @param home where those go who ask for / and name no affiliate
 */
export function visitorRoutes(tracking: Tracking, home: string): readonly OpenRoute[] {
  return [
    {
      method: 'GET',
      path: '/r/:name',
      answer: request => redirect(tracking, request, name => tracking.links.byCode(name)),
    },
    {
      method: 'GET',
      path: '/ref/:name',
      answer: request => redirect(tracking, request, name => tracking.links.byAffiliate(name)),
    },
    {
      method: 'GET',
      path: '/',
      answer: request => {
        const name = new URLSearchParams(request.query).get('ref')
        if (name === null) return { status: 302, headers: { Location: home } }
        return redirect(tracking, { ...request, name }, name => tracking.links.byAffiliate(name))
      },
    },
  ]
}

async function redirect(
  tracking: Tracking,
  request: OpenRequest,
  find: (name: string) => Coming['followed'] | Promise<Coming['followed']>,
): Promise<OpenAnswer> {
  const { name, query } = request
  const followed = isName(name) ? await find(name) : undefined
  const sent = query === '' ? undefined : new URLSearchParams(query)
  const to = sent?.get('to') ?? null
  const campaign = sent?.get('campaign') ?? null
  const url = await tracking.lead(request, { followed, to, campaign })
  return url === undefined
    ? { status: 404, headers: { ...HEADERS, 'Content-Type': 'text/plain; charset=utf-8' }, body: NO_PAGE }
    : { status: 302, headers: { ...HEADERS, Location: url } }
}

const NO_PAGE = 'This link leads nowhere yet: the programme has no page.\n'
