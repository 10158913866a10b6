/**
 * The script that the shop's pages load: it remembers which affiliate brought the visitor. It has no dependencies and
 * runs on pages it knows nothing about, so it never throws, and it sends and stores nothing before it is allowed to.
 * See docs/tracking.md.
 */

/**
 * Filled in by the service: attribution window in days, whether consent is required, the shop's hosts, and the domains
 * whose hosts share the cookie.
 */
declare const AFFILIATED_SETTINGS: { days: number; consent: boolean; hosts: string[]; domains: string[] }

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
  const { days, consent, hosts, domains } = AFFILIATED_SETTINGS
  const name = 'aff_click'
  const nameOfFirst = 'aff_first'
  const page = document
  // Cast: the page includes the script as an HTML element.
  const script = (page.currentScript || page.querySelector('script[src*="a.js"]')) as HTMLScriptElement
  const isToken = (text: string | null | undefined) => /^[\w-]{60,200}$/.test(text || '')
  /** Tokens of the first and the last click; '' when there is none. */
  let first = ''
  let last = ''
  /** Undefined until the visitor has consented, or need not; false once consent is withdrawn. */
  let begun: boolean | undefined

  const read = () => {
    const [, one, other] = /(?:^|; )aff_click=([\w-]+)\.([\w-]+)/.exec(page.cookie) || []
    if (one) {
      first = one
      last = other!
    }
  }

  const set = (seconds: number, domain: string) => {
    // biome-ignore lint/suspicious/noDocumentCookie: many browsers lack the Cookie Store API.
    page.cookie = `${name}=${first}.${last};path=/;samesite=lax;max-age=${seconds}${domain}${
      location.protocol === 'https:' ? ';secure' : ''
    }`
  }

  // The same cookie that the service sets, see clickCookie.
  const write = (seconds: number) => {
    const shared = domains.find(domain => `.${location.hostname}`.endsWith(`.${domain}`))
    // One that was stored for this host alone would be read in place of the shared one.
    set(shared ? 0 : seconds, '')
    if (shared) set(seconds, `;domain=${shared}`)
  }

  const fill = (data?: FormData) => {
    for (const [field, token] of [
      [name, last],
      [nameOfFirst, first],
    ] as const) {
      // Fields may hold what the shop's server has stored, until consent is withdrawn.
      if (!last && begun !== false) return
      if (data) data.has(field) && data.set(field, token)
      else
        for (const input of page.querySelectorAll<HTMLInputElement>(`input[name=${field}]`))
          input.value = token
    }
  }

  const keep = (token: string, before?: string | null) => {
    if (!isToken(token)) return
    // Where the service answers on the shop's own host it has already set this cookie, and that one lasts longer.
    if (last !== token) {
      first = first || (isToken(before) ? before! : token)
      last = token
      write(days * 86400)
    }
    fill()
  }

  const ask = (sent: Record<string, string>) => {
    fetch(script.src.replace(/[^/]*$/, 'a'), {
      method: 'POST',
      keepalive: true,
      body: new URLSearchParams(sent),
    })
      .then(async answer => {
        const text = await answer.text()
        if (!begun) return end()
        read()
        if (answer.ok) keep(text)
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
      const ref = query.get('ref') || /\/ref\/([^/]+)/.exec(location.pathname)?.[1]
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
          url: location.href,
          referrer: page.referrer,
        })
      fill()
    } catch {}
  }

  const end = () => {
    first = last = ''
    begun = false
    fill()
    try {
      write(0)
    } catch {}
  }

  const affiliated: Affiliated = (what, value) => {
    if (what === 'consent') value === false ? end() : begin()
    return what !== 'token' ? undefined : value === 'first' ? first : last
  }

  for (const event of ['mousedown', 'click'])
    addEventListener(
      event,
      ({ target }) => {
        // Cast: the target is an element, or something without `closest`.
        const link = (target as Element).closest?.<HTMLAnchorElement>('a[href]')
        const isOurs = (host: string) =>
          host[0] === '*' ? link!.host.endsWith(host.slice(1)) : link!.host === host
        if (!last || !link || link.host === location.host || !hosts.some(isOurs)) return
        const url = new URL(link.href)
        url.searchParams.set(name, last)
        url.searchParams.set(nameOfFirst, first)
        link.href = url.href
      },
      true,
    )
  addEventListener('formdata', ({ formData }) => fill(formData))
  addEventListener('DOMContentLoaded', () => fill())

  const early = window.affiliated?.q || []
  window.affiliated = affiliated
  if (!consent && !script.hasAttribute('data-consent')) begin()
  for (const call of early) affiliated(...call)
}
