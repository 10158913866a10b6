/** Cookies of the administration area. Scripts cannot read them, and other sites cannot make a browser send them. */

interface Cookie {
  readonly name: string
  /** Sent to this path and below. */
  readonly path: string
}

/** The session identifier. */
export const sessionCookie: Cookie = { name: 'affiliated_session', path: '/admin' }

/** Recognises a browser at log-in; sent nowhere else. */
export const deviceCookie: Cookie = { name: 'affiliated_device', path: '/admin/api/session' }

/** @param header the Cookie header */
export function readCookie({ name }: Cookie, header: string | undefined): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const [key, value] = pair.trim().split('=', 2)
    if (key === name && value) return value
  }
  return undefined
}

/**
 * A Set-Cookie header.
 * @param secure whether to send it over TLS only
 * @param seconds lifetime; without it, until the browser is closed
 */
export function setCookie({ name, path }: Cookie, token: string, secure: boolean, seconds?: number): string {
  const age = seconds === undefined ? '' : `; Max-Age=${seconds}`
  return `${name}=${token}; Path=${path}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}${age}`
}
