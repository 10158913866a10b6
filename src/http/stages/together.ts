import type { onSendHookHandler } from 'fastify'
import { sendWithOthers } from '../../base/turn.ts'

/**
 * Sends an answer together with those to the requests that arrived with its own. Sending wakes the process that reads, if
 * it runs on the same machine; one that has just been woken is still awake for the rest.
 */
export const together: onSendHookHandler = (request, reply, _payload, send) =>
  sendWithOthers(() => {
    try {
      send()
    } catch (err) {
      // Nobody else would catch it, and the other answers have to be sent.
      request.log.error({ id: request.id, err }, 'answer could not be sent')
      reply.raw.destroy()
    }
  })
