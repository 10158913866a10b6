import type { OpenAnswer, OpenRequest, OpenRoute } from '../../http/open.ts'
import { isKnown } from '../../http/preconditions.ts'
import { clickCookie, tokenToSet } from './cookie.ts'
import type { FollowedLinks, Found } from './followed.ts'
import { Script } from './script.ts'
import { isName, type Tracking } from './tracking.ts'

/** Every visit is answered by the service, and search engines do not list the addresses. */
const HEADERS = { 'Cache-Control': 'no-store', 'X-Robots-Tag': 'noindex' }

/**
 * The addresses that visitors follow.
 * @param home the address that / leads to without a name
 */
export function visitorRoutes(tracking: Tracking, home: string): readonly OpenRoute[] {
  const script = new Script()
  return [
    ...named('/r', request => redirect(tracking, request, (links, name) => links.byCode(name))),
    ...named('/ref', request => redirect(tracking, request, (links, name) => links.byAffiliate(name))),
    {
      method: 'GET',
      path: '/',
      answer: request => {
        const name = new URLSearchParams(request.query).get('ref')
        if (name === null) return { status: 302, headers: { Location: home } }
        return redirect(tracking, { ...request, name }, (links, name) => links.byAffiliate(name))
      },
    },
    { method: 'GET', path: '/a.js', answer: request => answerScript(tracking, script, request) },
    { method: 'POST', path: '/a', answer: request => answerBeacon(tracking, request) },
  ]
}

const SCRIPT_SECONDS = 3600

async function answerScript(tracking: Tracking, script: Script, request: OpenRequest): Promise<OpenAnswer> {
  const { accept, known } = {
    accept: request.headers['accept-encoding'],
    known: request.headers['if-none-match'],
  }
  await tracking.loaded(request)
  const { encoding, body, tag } = script.encoded((await tracking.settings).tracking, String(accept ?? ''))
  const headers = {
    ...ANY_ORIGIN,
    ETag: tag,
    Vary: 'Accept-Encoding',
    'Cache-Control': `public, max-age=${SCRIPT_SECONDS}`,
    'Content-Type': 'text/javascript; charset=utf-8',
  }
  if (known !== undefined && isKnown(known, tag)) return { status: 304, headers }
  return { status: 200, headers: { ...headers, ...(encoding && { 'Content-Encoding': encoding }) }, body }
}

/** Whatever stands behind the name is left out: a visitor has followed an address that somebody has copied or extended. */
const named = (path: string, answer: OpenRoute['answer']): OpenRoute[] =>
  [`${path}/:name`, `${path}/:name/*`].map(path => ({ method: 'GET', path, answer }))

/** Pages of any origin may load and read it; requests carry no cookies. */
const ANY_ORIGIN = { 'Access-Control-Allow-Origin': '*', 'Cross-Origin-Resource-Policy': 'cross-origin' }

async function answerBeacon(tracking: Tracking, request: OpenRequest): Promise<OpenAnswer> {
  const token = tokenToSet(request.body) ?? (await tracking.answer(request, request.body))
  if (token === undefined) return { status: 204, headers: { ...ANY_ORIGIN, ...HEADERS } }
  const cookie = clickCookie(request.headers, token, {
    tracking: (await tracking.settings).tracking,
    secure: request.isSecure(),
  })
  return {
    status: 200,
    headers: {
      ...ANY_ORIGIN,
      ...HEADERS,
      'Content-Type': 'text/plain; charset=utf-8',
      ...(cookie && { 'Set-Cookie': cookie }),
    },
    body: token,
  }
}

async function redirect(
  tracking: Tracking,
  request: OpenRequest,
  find: (links: FollowedLinks, name: string) => Found,
): Promise<OpenAnswer> {
  const { name, query } = request
  const followed = isName(name) ? await tracking.find(links => find(links, name)) : undefined
  const parameters = query === '' ? undefined : new URLSearchParams(query)
  const to = parameters?.get('to') ?? null
  const campaign = parameters?.get('campaign') ?? null
  const url = await tracking.lead(request, { followed, to, campaign })
  return url === undefined
    ? { status: 404, headers: { ...HEADERS, 'Content-Type': 'text/plain; charset=utf-8' }, body: NO_PAGE }
    : { status: 302, headers: { ...HEADERS, Location: url } }
}

const NO_PAGE = 'This link leads nowhere yet: the programme has no page.\n'
