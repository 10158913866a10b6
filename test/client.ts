/**
 * A client of HTTP for tests, which ask by the ten thousand: `fetch` takes as long to ask as the service to answer, most
 * of it for streams and promises that a body of some lines does not need.
 */
import { Agent, request } from 'node:http'

const agent = new Agent({ keepAlive: true })

/** An answer with its whole body. */
export interface Received {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/**
 * Follows no redirection.
 * @param body as fetch takes it, which says its type where the headers do not
 */
export async function exchange(
  method: string,
  url: string,
  { body, headers }: { body?: unknown; headers: Readonly<Record<string, string>> },
): Promise<Received> {
  const all = new Headers(headers)
  let bytes: string | Uint8Array | undefined
  if (typeof body === 'string') {
    bytes = body
    if (!all.has('content-type')) all.set('content-type', 'text/plain;charset=UTF-8')
  } else if (body instanceof Uint8Array) bytes = body
  else if (body !== undefined) {
    const encoded = new Response(body as NonNullable<RequestInit['body']>)
    bytes = await encoded.bytes()
    const type = encoded.headers.get('content-type')
    if (type && !all.has('content-type')) all.set('content-type', type)
  }
  // Node's client does not say it by itself for DELETE, whose body would be read as the next request.
  if (bytes !== undefined && !all.has('content-length') && !all.has('transfer-encoding')) {
    all.set('content-length', String(Buffer.byteLength(bytes)))
  }
  return new Promise((resolve, reject) => {
    const sent = request(new URL(url), { agent, method, headers: Object.fromEntries(all) }, response => {
      const chunks: Buffer[] = []
      response.on('data', chunk => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode!,
          headers: headersOf(response.rawHeaders),
          text: new TextDecoder().decode(Buffer.concat(chunks)),
        }),
      )
    })
    sent.on('error', reject)
    sent.end(bytes)
  })
}

function headersOf(raw: readonly string[]): Headers {
  const headers = new Headers()
  for (let at = 0; at < raw.length; at += 2) headers.append(raw[at]!, raw[at + 1]!)
  return headers
}
