import { type IncomingHttpHeaders, type IncomingMessage, type RequestOptions, request } from 'node:http'
import { buffer } from 'node:stream/consumers'

/** An answer as it comes: `fetch` would unpack it, and costs more. */
export interface Exchanged {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** Sends one request, and reads the whole answer. @throws Error when the connection breaks */
export async function exchange(url: string, options: RequestOptions, body?: string): Promise<Exchanged> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  request(url, options, resolve).on('error', reject).end(body)
  const response = await promise
  return { status: response.statusCode!, headers: response.headers, body: await buffer(response) }
}

/** The same for the floor to answer with, without what `node:http` adds by itself. */
export function answerOf({ status, headers: received, body }: Exchanged) {
  const { date: _date, connection: _connection, 'keep-alive': _keepAlive, ...headers } = received
  return { status, headers, body: body.toString('base64') }
}
