/** The cookies of the administration area. Scripts can't read them, and no other site can make a browser send them. */

interface Cookie {
  readonly name: string
  /** The browser sends it to this path and below. */
  readonly path: string
}

/** Holds the identifier of a session. */
export const sessionCookie: Cookie = { name: 'affiliated_session', path: '/admin' }

/** Recognises a browser at log-in; it is sent nowhere else. */
export const deviceCookie: Cookie = { name: 'affiliated_device', path: '/admin/api/session' }

/** @param header the request's Cookie header */
export function readCookie({ name }: Cookie, header: string | undefined): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const [key, value] = pair.trim().split('=', 2)
    if (key === name && value) return value
  }
  return undefined
}

/**
 * A Set-Cookie header.
 * @param secure whether the browser may send it by TLS only
 * @param seconds for how long the browser keeps it; without, until it is closed
 */
export function setCookie({ name, path }: Cookie, token: string, secure: boolean, seconds?: number): string {
  const age = seconds === undefined ? '' : `; Max-Age=${seconds}`
  return `${name}=${token}; Path=${path}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}${age}`
}
