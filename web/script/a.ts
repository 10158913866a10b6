/**
 * The script that the shop's pages load: it remembers which affiliate brought the visitor. It has no dependencies and
 * runs on pages it knows nothing about, so it never throws, and it sends and stores nothing before it is allowed to.
 * See docs/tracking.md.
 */

/**
 * Filled in by the service: attribution window in seconds, whether consent is required, the shop's hosts, and the domains
 * whose hosts share the cookie, with a dot before each.
 */
declare const AFFILIATED_SETTINGS: [lifetime: number, consent: boolean, hosts: string[], domains: string[]]

interface Affiliated {
  (what: string, value?: unknown): unknown
  /** Calls queued by the page before the script was loaded. */
  q?: [string, unknown?][]
}

/** `window.affiliated`: the queue that the page sets up, replaced by the function below. */
// biome-ignore lint/correctness/noUnusedVariables: it extends the browser's own Window.
interface Window {
  affiliated?: Affiliated
}

{
  const [lifetime, consent, hosts, domains] = AFFILIATED_SETTINGS
  const name = 'aff_click'
  const nameOfFirst = 'aff_first'
  const page = document
  // Cast: the page includes the script as an HTML element.
  const script = (page.currentScript || page.querySelector('script[src*="a.js"]')) as HTMLScriptElement
  const isToken = (text: string | null | undefined) => /^[\w-]{60,200}$/.test(text || '')
  /** When a token was signed, in seconds: see signClick. */
  const at = (token: string) =>
    [...atob(token.slice(8, 14).replace(/-/g, '+').replace(/_/g, '/'))].reduce(
      (time, byte) => time * 256 + byte.charCodeAt(0),
      0,
    )
  /** Tokens of the first and the last click; '' when there is none. */
  let first = ''
  let last = ''
  /** Undefined until the visitor has consented, or need not; false once consent is withdrawn. */
  let begun: boolean | undefined
  /** Whether the browser stores the cookie. */
  let stored: boolean | undefined

  /** Another page of the shop may have changed the cookie, or removed it. @returns whether the visitor still consents */
  const read = () => {
    try {
      const [, one, other] = (begun && /(?:^|; )aff_click=([\w-]+)\.([\w-]+)/.exec(page.cookie)) || []
      if (one) {
        first = one
        last = other!
        stored = true
      } else if (stored) {
        first = last = ''
        stored = begun = false
      }
    } catch {}
    return begun
  }

  const set = (seconds: number, domain: string) => {
    try {
      // biome-ignore lint/suspicious/noDocumentCookie: many browsers lack the Cookie Store API.
      page.cookie = `${name}=${first}.${last};path=/;samesite=lax;max-age=${seconds}${domain}${
        location.protocol[4] === 's' ? ';secure' : ''
      }`
    } catch {}
  }

  // The same cookie that the service sets, see clickCookie.
  const write = (seconds: number) => {
    const shared = domains.find(domain => `.${location.hostname}`.endsWith(domain))
    // One that was stored for this host alone would be read in place of the shared one.
    set(shared ? 0 : seconds, '')
    if (shared) set(seconds, `;domain=${shared}`)
  }

  const fill = (data?: FormData) => {
    read()
    // Fields may hold what the shop's server has stored, until consent is withdrawn.
    if (last || begun === false)
      for (const [field, token] of [
        [name, last],
        [nameOfFirst, first],
      ] as const) {
        if (data) data.has(field) && data.set(field, token)
        else
          for (const input of page.querySelectorAll<HTMLInputElement>(`input[name=${field}]`))
            input.value = token
      }
  }

  const keep = (token: string, before?: string | null) => {
    if (!isToken(token)) return
    const now = Date.now() / 1000
    // A page that was opened earlier is shown again. A time that is yet to come is nobody's.
    const latest = at(token) < at(last) && at(last) < now + 600 ? last : token
    const earliest =
      [first, last, before, latest].find(one => isToken(one) && at(one!) > now - lifetime) || latest
    // Where the service answers on the shop's own host it has already set this cookie, and that one lasts longer.
    if (last !== latest || first !== earliest) {
      first = earliest
      last = latest
      write(lifetime)
      read()
    }
    fill()
  }

  const ask = (sent: Record<string, string>) => {
    fetch(new URL('a', script.src), {
      method: 'POST',
      keepalive: true,
      body: new URLSearchParams(sent),
    })
      .then(answer => answer.text())
      .then(text => {
        read() ? keep(text) : end()
      })
      .catch(() => {})
  }

  const begin = () => {
    if (begun) return
    begun = true
    try {
      read()
      const query = new URLSearchParams(location.search)
      const token = query.get(name)
      const ref = query.get('ref') || decodeURIComponent(/\/ref\/([^/]+)/.exec(location.pathname)?.[1] || '')
      // Cast: entries of type 'navigation' are always of this class.
      const [visit] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
      if (token) {
        const isNew = last !== token
        keep(token, query.get(nameOfFirst))
        // Where the service answers on the shop's own host it sets the cookie itself, and that one lasts longer.
        if (isNew && last === token && script.src.startsWith(`${location.origin}/`)) ask({ [name]: token })
      }
      // A reload is not a new visit.
      else if (ref && !(last && visit && visit.type !== 'navigate'))
        ask({
          ref,
          campaign: query.get('campaign') || '',
          // The service keeps no more, and takes no long bodies.
          url: location.href.slice(0, 2e3),
          referrer: page.referrer.slice(0, 500),
        })
      fill()
    } catch {}
  }

  const end = () => {
    first = last = ''
    stored = begun = false
    fill()
    write(0)
  }

  const affiliated: Affiliated = (what, value) => {
    if (what === 'consent') value === false ? end() : begin()
    if (what !== 'token') return
    read()
    return value === 'first' ? first : last
  }

  const decorate = ({ target }: Event) => {
    // Cast: the target is an element, or something without `closest`.
    const link = (target as Element).closest?.<HTMLAnchorElement>('a[href]')
    const host = link?.host
    const isOurs = (allowed: string) =>
      allowed[0] === '*' ? host!.endsWith(allowed.slice(1)) : host === allowed
    // Links of SVG have no host.
    if (!host || host === location.host || !hosts.some(isOurs) || !read() || !last) return
    // As text, so that other parameters stay exactly as they are.
    const others = link!.search.replace(/[?&]aff_(click|first)=[^&]*/g, '')
    link!.search = `${others}&${name}=${last}&${nameOfFirst}=${first}`.slice(1)
  }
  addEventListener('mousedown', decorate, true)
  addEventListener('click', decorate, true)

  addEventListener('formdata', ({ formData }) => fill(formData))
  addEventListener('DOMContentLoaded', () => fill())

  const early = window.affiliated?.q || []
  window.affiliated = affiliated
  if (!consent && !('consent' in script.dataset)) begin()
  for (const call of early) affiliated(...call)
}
