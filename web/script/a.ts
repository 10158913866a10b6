/**
 * The script that the shop's pages load: it remembers which affiliate brought the visitor. It has no dependencies and
 * runs on pages it knows nothing about, so it never throws, and it sends and stores nothing before it is allowed to.
 * See docs/tracking.md.
 */

/**
 * Filled in by the service: attribution window in seconds, whether consent is required, the shop's hosts, and the domains
 * whose hosts share the cookie, none within another.
 */
declare const AFFILIATED_SETTINGS: [lifetime: number, consent: boolean, hosts: string[], domains: string[]]

interface Affiliated {
  (what: string, value?: unknown): unknown
  /** Calls queued by the page before the script was loaded; 0 of the function below. */
  q?: [string, unknown?][] | 0
}

/** Few browsers render pages in advance. */
// biome-ignore lint/correctness/noUnusedVariables: it extends the browser's own Document.
interface Document {
  readonly prerendering?: boolean
}

/** `window.affiliated`: the queue that the page sets up, replaced by the function below. */
// biome-ignore lint/correctness/noUnusedVariables: it extends the browser's own Window.
interface Window {
  affiliated?: Affiliated
}

{
  const [lifetime, consent, hosts, domains] = AFFILIATED_SETTINGS
  const page = document
  // Cast: the page includes the script as an HTML element.
  const script = (page.currentScript || page.querySelector('[src*="/a.js"]')) as HTMLScriptElement
  /** When a token was signed, in seconds: see signClick. 0 where the text is no token. */
  const at = (text: string | null | undefined) =>
    /^[\w-]{60,200}$/.test(text!)
      ? [...atob(text!.slice(8, 14).replace(/-/g, '+').replace(/_/g, '/'))].reduce(
          (time, byte) => time * 256 + byte.charCodeAt(0),
          0,
        )
      : 0
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
      const [, one, other] = (begun && /\baff_click=([\w-]+)\.([\w-]+)/.exec(page.cookie)) || []
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
    // biome-ignore lint/suspicious/noDocumentCookie: many browsers lack the Cookie Store API.
    page.cookie = `aff_click=${first}.${last};path=/;samesite=lax;max-age=${seconds}${domain}${
      location.protocol[4] === 's' ? ';secure' : ''
    }`
  }

  // The same cookie that the service sets, see clickCookie.
  const write = (seconds: number) => {
    try {
      // Of several of one name the oldest is read: whatever the settings were when it was stored, it goes.
      set(0, '')
      for (let host = location.hostname; host; host = host.replace(/[^.]*.?/, ''))
        set(domains.includes(host) ? seconds : 0, `;domain=${host}`)
      // Browsers share no cookie among the hosts of different owners, such as those below co.uk.
      if (!page.cookie.includes(last)) set(seconds, '')
    } catch {}
  }

  const fill = (data?: FormData) => {
    read()
    // Fields may hold what the shop's server has stored, until consent is withdrawn.
    if (last || begun === false)
      for (const [field, token] of [
        ['aff_click', last],
        ['aff_first', first],
      ] as const) {
        if (data) data.has(field) && data.set(field, token)
        else
          for (const input of page.querySelectorAll<HTMLInputElement>(`input[name=${field}]`))
            input.value = token
      }
  }

  const keep = (token: string, before?: string | null) => {
    if (!at(token)) return
    const now = Date.now() / 1000
    // A page that was opened earlier is shown again. A time that is yet to come is nobody's.
    const latest = at(token) < at(last) && at(last) < now + 600 ? last : token
    const earliest = [first, last, before, latest].find(one => at(one) > now - lifetime) || latest
    // Where the service answers on the shop's own host it has already set this cookie, and that one lasts longer.
    if (last !== latest || first !== earliest) {
      first = earliest
      last = latest
      write(lifetime)
      read()
    }
    fill()
  }

  const ask = async (sent: Record<string, string>) => {
    try {
      const answer = await fetch(new URL('a', script.src), {
        body: new URLSearchParams(sent),
        method: 'POST',
        keepalive: true,
      })
      const token = await answer.text()
      read() ? keep(token) : end()
    } catch {}
  }

  const begin = () => {
    if (begun) return
    begun = true
    try {
      fill()
      // Cast: entries of type 'navigation' are always of this class.
      const [visit] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
      // As it was opened: the page may have cleaned its address before the script was there.
      // Cast: where there is no entry, no colon is found.
      const landing = new URL(/:/.test(visit?.name as string) ? visit!.name : location.href)
      const query = landing.searchParams
      const token = query.get('aff_click')
      const ref = query.get('ref') || /\/ref\/([^/]+)/.exec(landing.pathname)?.[1]
      if (token) {
        if (last !== token) {
          keep(token, query.get('aff_first'))
          // Where the service answers on the shop's own host it sets the cookie itself, and that one lasts longer.
          if (last === token && script.src.startsWith(`${location.origin}/`)) ask({ aff_click: token })
        }
      }
      // A reload is not a new visit.
      else if (ref && !(last && visit && visit.type !== 'navigate'))
        ask({
          ref,
          // The service keeps no more, and takes no long bodies.
          url: landing.href.slice(0, 2e3),
          referrer: page.referrer.slice(0, 500),
        })
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

  const decorate = (event: Event) => {
    // The path has links of image maps, and within components, as well.
    // Cast: nothing else in it has a host name.
    const link = (event.composedPath() as HTMLAnchorElement[]).find(one => one.hostname)
    const host = link?.host
    const isOurs = (allowed: string) =>
      allowed[0] === '*' ? host?.endsWith(allowed.slice(1)) : host === allowed
    if (host === location.host || !hosts.some(isOurs) || !read() || !last) return
    // As text, so that other parameters stay exactly as they are.
    const others = link!.search.replace(/[?&]aff_(click|first)=[^&]*/g, '')
    link!.search = `${others}&aff_click=${last}&aff_first=${first}`.slice(1)
  }
  const start = () => {
    // A page that includes the script twice has one visit.
    const early = window.affiliated?.q ?? []
    if (!early) return
    affiliated.q = 0
    window.affiliated = affiliated
    for (const event of ['click', 'mousedown']) addEventListener(event, decorate, true)
    // On focus, because the visitor may have withdrawn consent on another page.
    for (const event of ['formdata', 'DOMContentLoaded', 'focus']) {
      // Cast: events of other types have no data.
      addEventListener(event, one => fill((one as FormDataEvent).formData))
    }
    if (!consent && script?.dataset.consent == null) begin()
    for (const call of early) affiliated(...call)
  }
  // A page that a browser has rendered in advance may never be shown.
  if (page.prerendering) page.addEventListener('prerenderingchange', start)
  else start()
}
