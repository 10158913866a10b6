/** Amounts in deliveries: each is read as what it is, or refused, since what was recorded stays. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { before, test } from 'node:test'
import { describeService, giveSecretKey } from '../../../test/harness.ts'

const SECRET = 'whsec_of_the_test'

describeService('amounts in deliveries', service => {
  giveSecretKey()
  const ids = { stripe: 0, woocommerce: 0, generic: 0 }
  before(async () => {
    for (const type of ['stripe', 'woocommerce', 'generic'] as const) {
      const mapping = {
        kind: '/kind',
        reference: '/id',
        part: '/part',
        amount: '/cents',
        tax: '/tax',
        minor_units: true,
        currency: 'USD',
      }
      const args = { name: type, type, context: type, secret: SECRET, ...(type === 'generic' && { mapping }) }
      const { status, body } = await service().post('/sources', args)
      assert.equal(status, 201, JSON.stringify(body))
      ids[type] = body.id
    }
  })
  const mac = (text: string, encoding: 'hex' | 'base64') =>
    createHmac('sha256', SECRET).update(text).digest(encoding)
  const signatures = {
    stripe: (body: string) => {
      const at = Math.floor(Date.now() / 1000)
      return { 'stripe-signature': `t=${at},v1=${mac(`${at}.${body}`, 'hex')}` }
    },
    woocommerce: (body: string) => ({ 'x-wc-webhook-signature': mac(body, 'base64') }),
    generic: (body: string) => ({ 'x-signature': mac(body, 'hex') }),
  }
  const deliver = async (type: keyof typeof ids, payload: object): Promise<any> => {
    const body = JSON.stringify(payload)
    const reply = await fetch(`${service().url}/v1/sources/${ids[type]}/deliveries`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...signatures[type](body) },
      body,
    })
    assert.equal(reply.status, 200)
    return reply.json()
  }
  const problemOf = async (type: keyof typeof ids) =>
    (await service().get(`/sources/${ids[type]}`)).body.problem as string
  const conversionOf = async (reference: string) =>
    (await service().get(`/conversions?reference=${reference}`)).body[0]
  /** Nothing of it is recorded, and the source says why. */
  const refused = async (type: keyof typeof ids, payload: object, reference: string, reason: RegExp) => {
    const { results } = await deliver(type, payload)
    assert.deepEqual(
      results.map((one: any) => one.status),
      [400],
      JSON.stringify([payload, results]),
    )
    assert.match(results[0].message, reason)
    const problem = await problemOf(type)
    assert.ok(problem.includes(JSON.stringify(reference)) && reason.test(problem), problem)
    assert.equal(await conversionOf(reference), undefined)
  }
  let payloads = 0
  const named = () => `amount-${++payloads}`

  test('minor units: text is the number that it is anywhere, or is refused', async () => {
    const read: [unknown, number][] = [
      [1050, 10.5],
      ['1050', 10.5],
      ['+1050', 10.5],
      ['1050.', 10.5],
      ['1.05e3', 10.5],
      ['10e2', 10],
      ['1e3', 10],
    ]
    for (const [cents, amount] of read) {
      const id = named()
      const { results } = await deliver('generic', { kind: 'sale', id, cents })
      assert.equal(results[0].status, 201, JSON.stringify(results))
      assert.equal((await conversionOf(id)).amount, amount, String(cents))
    }
    const returned = { kind: 'refund', part: '1', id: named(), cents: '-1.05e3' }
    await deliver('generic', returned)
    assert.equal((await conversionOf(returned.id)).amount, 10.5)
    const unread = ['.5', 'abc', '12,00', '0x10', '10.50 USD', ' 1050', '1_050', true, {}, [1050]]
    for (const cents of unread) {
      const id = named()
      await refused('generic', { kind: 'sale', id, cents }, id, /amount: must/)
      const taxed = named()
      await refused('generic', { kind: 'sale', id: taxed, cents: 5000, tax: cents }, taxed, /tax: must/)
    }
    for (const cents of [undefined, null, '']) {
      const id = named()
      await refused('generic', { kind: 'sale', id, cents }, id, /Missing argument: amount/)
    }
  })
})
