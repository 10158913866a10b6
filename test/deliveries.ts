/** Delivers what shops and payment providers send, signed as they sign it. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'

/** The secret that sources of the tests are set up with. */
export const SECRET = 'whsec_of_the_test'

const mac = (text: string, encoding: 'hex' | 'base64') =>
  createHmac('sha256', SECRET).update(text).digest(encoding)

const signatures = {
  stripe: (body: string): Record<string, string> => {
    const at = Math.floor(Date.now() / 1000)
    return { 'stripe-signature': `t=${at},v1=${mac(`${at}.${body}`, 'hex')}` }
  },
  woocommerce: (body: string) => ({ 'x-wc-webhook-signature': mac(body, 'base64') }),
  generic: (body: string) => ({ 'x-signature': mac(body, 'hex') }),
}

export type SourceType = keyof typeof signatures

type Post = (path: string, body: object) => Promise<{ status: number; body: any }>

/**
 * Sets up a source of each type, each with a context of its own.
 * @param mapping of the generic one
 */
export async function sourceOfEach(post: Post, mapping: object): Promise<Record<SourceType, number>> {
  const setUp = async (type: SourceType, more = {}): Promise<number> => {
    const reply = await post('/sources', { name: type, type, context: type, secret: SECRET, ...more })
    assert.equal(reply.status, 201, JSON.stringify(reply.body))
    return reply.body.id
  }
  return {
    stripe: await setUp('stripe'),
    woocommerce: await setUp('woocommerce'),
    generic: await setUp('generic', { mapping }),
  }
}

interface To {
  readonly url: string
  readonly id: number
  readonly type: SourceType
}

/** @returns the answer to a delivery, which is 200 */
export async function deliverTo({ url, id, type }: To, payload: object, headers: object = {}): Promise<any> {
  const body = JSON.stringify(payload)
  const reply = await fetch(`${url}/v1/sources/${id}/deliveries`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...signatures[type](body), ...headers },
    body,
  })
  assert.equal(reply.status, 200)
  return reply.json()
}
