/** The cookie that holds the identifier of a session. Scripts can't read it, and no other site can make a browser send it. */

const NAME = 'affiliated_session'

/** @param header the request's Cookie header */
export function readCookie(header: string | undefined): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const [name, value] = pair.trim().split('=', 2)
    if (name === NAME && value) return value
  }
  return undefined
}

/**
 * A Set-Cookie header. The cookie has no end of its own: the session's is kept by the server, and closing the browser
 * forgets it.
 * @param secure whether the browser may send it by TLS only
 */
export function sessionCookie(token: string, secure: boolean): string {
  return `${NAME}=${token}; Path=/admin; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
}

/** A Set-Cookie header that removes it. */
export function endedCookie(secure: boolean): string {
  return `${sessionCookie('', secure)}; Max-Age=0`
}
