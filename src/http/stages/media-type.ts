import type { onRequestHookHandler } from 'fastify'

/**
 * A Content-Type that is not a media type counts as not sent. Fastify would refuse the request for it, even one without
 * a body; a body is refused when it is parsed.
 */
export const mediaType: onRequestHookHandler = (request, _reply, done) => {
  const { headers } = request.raw
  if (headers['content-type'] !== undefined && request.mediaType === undefined)
    headers['content-type'] = undefined
  done()
}
