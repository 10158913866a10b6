/** The answers that the OpenAPI document describes, compared with those that are given. */
import assert from 'node:assert/strict'
import { createHmac, randomBytes } from 'node:crypto'
import { before, test } from 'node:test'
import { resources } from '../../src/app.ts'
import { answerHeaders } from '../../src/http/headers.ts'
import { describeService, giveSecretKey, type Reply, type Send } from '../harness.ts'

const names = Object.keys(answerHeaders)
const xml = { 'content-type': 'text/xml' }
const ndjson = { 'content-type': 'application/x-ndjson' }

describeService(
  'answers in OpenAPI',
  service => {
    giveSecretKey()
    let document: any
    before(async () => {
      document = (await service().get('/openapi.json')).body
    })
    const responseOf = (operation: any, status: number) => {
      const response = operation.responses[status]
      const name = /^#\/components\/responses\/(.*)$/.exec(response?.$ref ?? '')?.[1]
      return name === undefined ? response : document.components.responses[name]
    }
    const declaredIn = (operation: any, status: number): string[] => {
      const response = responseOf(operation, status)
      assert.ok(response, `${operation.operationId} ${status}`)
      for (const [name, { $ref }] of Object.entries<any>(response.headers)) {
        assert.equal($ref, `#/components/headers/${name}`)
        assert.ok(document.components.headers[name].description)
      }
      return Object.keys(response.headers)
    }
    const seen = new Map<string, Set<string>>()

    /** @param route the path and what is below it in the document, such as '/affiliates/{affiliate_id}' */
    const ask = async (method: string, route: string, path: string, options?: Send): Promise<Reply> => {
      const reply = await service().send(method, path, options)
      const what = `${method} ${route} ${reply.status}`
      const declared = declaredIn(document.paths[route][method.toLowerCase()], reply.status)
      const sent = names.filter(name => reply.headers.has(name))
      const undeclared = sent.filter(name => !declared.includes(name))
      assert.deepEqual(undeclared, [], `${what}: ${JSON.stringify(reply.body)}`)
      seen.set(what, new Set([...(seen.get(what) ?? []), ...sent]))
      return reply
    }
    const named = (key: string, more = {}) => ({ headers: { 'idempotency-key': key, ...more } })

    test('every header of an answer is described where it is sent, and no other', async () => {
      const [all, one] = ['/affiliates', '/affiliates/{affiliate_id}']
      const create = (payment_email: string, key: string) =>
        ask('POST', all, `${all}?nonsense=1`, { body: { create_user: true, payment_email }, ...named(key) })
      const { body: affiliate } = await create('ada@example.com', 'ada')
      assert.equal((await create('ada@example.com', 'ada')).headers.get('idempotent-replayed'), 'true')
      assert.equal((await create('eve@example.com', 'ada')).status, 409)
      await create('eve@example.com', 'eve')
      const lines = JSON.stringify({ create_user: true, payment_email: 'bob@example.com' })
      for (const _ of [1, 2]) {
        const { status } = await ask('POST', all, all, { body: lines, ...named('lines', ndjson) })
        assert.equal(status, 200)
      }
      await ask('GET', all, `${all}?number=1&count=1&nonsense=1`)
      assert.equal((await ask('GET', all, all, { key: null })).status, 401)
      const key = await service().newKey(['payouts.read'])
      assert.equal((await ask('GET', all, all, { key })).status, 403)

      const path = `${all}/${affiliate.id}`
      const shown = await ask('GET', one, `${path}?nonsense=1`)
      const tag = shown.headers.get('etag')!
      const known = { headers: { 'if-none-match': tag } }
      assert.equal((await ask('GET', one, `${path}?nonsense=1`, known)).status, 304)
      assert.equal((await ask('GET', one, '/affiliates/999?nonsense=1')).status, 404)
      const edit = (rate: number, headers = {}) =>
        ask('PATCH', one, `${path}?nonsense=1`, { body: { rate }, ...named('edit', headers) })
      for (const _ of [1, 2]) assert.equal((await edit(5, { 'if-match': tag })).status, 200)
      const changed = { body: { rate: 6 }, headers: { 'if-match': tag } }
      assert.equal((await ask('PATCH', one, `${path}?nonsense=1`, changed)).status, 412)
      await service().database.transaction(tx =>
        tx.updateTable('idempotency_keys').set({ status: 410 }).where('key', '=', 'edit').execute(),
      )
      assert.equal((await edit(5, { 'if-match': tag })).status, 410)
      assert.equal((await ask('PATCH', one, `${path}?nonsense=1`, { body: { rate: 'x' } })).status, 400)

      assert.equal((await ask('DELETE', one, path, { body: '<a/>', headers: xml })).status, 415)
      const large = { body: 'x'.repeat(2 * 1024 * 1024), headers: xml }
      assert.equal((await ask('DELETE', one, path, large)).status, 413)
      for (const _ of [1, 2])
        assert.equal((await ask('DELETE', one, `${path}?nonsense=1`, named('delete'))).status, 200)
      await ask('GET', '/events', '/events?number=1&nonsense=1')
      const identifiers = Array.from({ length: 1000 }, () => Number.MAX_SAFE_INTEGER).join()
      assert.equal((await ask('GET', all, `${all}?affiliate_id=${identifiers}`)).status, 431)

      for (const [what, sent] of seen) {
        const [method = '', route = '', status = ''] = what.split(' ')
        const declared = declaredIn(document.paths[route][method.toLowerCase()], Number(status))
        assert.deepEqual([...sent].sort(), declared.sort(), what)
      }
    })

    test('also those of what is there already, of a file, and of too many requests', async () => {
      const { id: affiliate_id } = await service().newAffiliate('payee', { status: 'active' })
      const referral = { affiliate_id, amount: 5, status: 'unpaid', context: 'shop', reference: 'R1' }
      for (const status of [201, 200])
        assert.equal((await ask('POST', '/referrals', '/referrals', { body: referral })).status, status)
      const sale = { kind: 'sale', context: 'shop', reference: 'S1', amount: 5, affiliate_id }
      for (const status of [201, 200]) {
        const reply = await ask('POST', '/conversions', '/conversions', { body: sale })
        assert.equal(reply.status, status, JSON.stringify(reply.body))
      }
      const { body: run } = await ask('POST', '/payout-runs', '/payout-runs')
      const runs = '/payout-runs/{payout_run_id}'
      const approve = { body: { hash: run.hash } }
      await ask('POST', `${runs}/approve`, `/payout-runs/${run.id}/approve`, approve)
      const file = await ask('GET', `${runs}/files/csv`, `/payout-runs/${run.id}/files/csv`)
      assert.ok(file.headers.has('content-disposition'))
      await ask('GET', `${runs}/items`, `/payout-runs/${run.id}/items?count=1&number=1`)
      const body = { name: 'x'.repeat(1024 * 1024 - 100) }
      // With a key of its own: the next test needs what is left of the other one.
      const key = await service().newKey(['groups.create'])
      let reply = await ask('POST', '/groups', '/groups', { body, key })
      for (let count = 0; count < 40 && reply.status !== 429; count += 1)
        reply = await ask('POST', '/groups', '/groups', { body, key })
      assert.equal(reply.status, 429)
      assert.ok(reply.headers.has('retry-after'))
    })

    test('a delivery is described as what it is: signed, and without an API key', async () => {
      const key = randomBytes(8).toString('hex')
      const shop = {
        name: 'Shop',
        type: 'generic',
        secret: key,
        mapping: { kind: 'sale', reference: '/order' },
      }
      const { body: source } = await service().post('/sources', shop)
      assert.ok(source.id, JSON.stringify(source))
      const route = '/sources/{source_id}/deliveries'
      const deliver = (body: string, signature: string) =>
        ask('POST', route, `/sources/${source.id}/deliveries`, {
          body,
          headers: { 'content-type': 'application/json', 'x-signature': signature },
          key: null,
        })
      const signed = (body: string) => createHmac('sha256', key).update(body).digest('hex')
      assert.equal((await deliver('{}', signed('{}'))).status, 200)
      assert.equal((await deliver('{}', signed('[]'))).status, 401)
      assert.equal((await deliver('{', signed('{'))).status, 400)
      const { security, responses } = document.paths[route].post
      const { name, ...scheme } = document.components.securitySchemes[Object.keys(security[0])[0]!]
      assert.deepEqual(
        [scheme.type, scheme.in, name, security.length],
        ['apiKey', 'header', 'X-Signature', 1],
      )
      assert.equal('429' in responses, false)
      const { body: index } = await service().get('')
      assert.deepEqual(index.routes[`/v1${route}`].methods, ['POST'])
      const { body: site } = await service().get('/../wp-json', { key: null })
      assert.ok(site.routes['/affwp/v1/sources/(?P<source_id>\\d+)/deliveries'])
      // The administration area takes none.
      const admin = await service().admin()
      const { body: ofArea } = await admin.get('')
      assert.equal(
        Object.keys(ofArea.routes).some(path => path.endsWith('/deliveries')),
        false,
      )
    })

    test('an object whose members nobody declares may have any, also to generators of clients', () => {
      const objects: any[] = []
      JSON.stringify(document, (_, part) => {
        if (part?.type === 'object') objects.push(part)
        return part
      })
      const empty = objects.filter(({ properties = {} }) => Object.keys(properties).length === 0)
      assert.ok(empty.length > 0)
      assert.ok(empty.every(({ additionalProperties }) => additionalProperties !== undefined))
      const { parameters } = document.paths['/affiliates'].get
      const { schema } = parameters.find(({ name }: { name: string }) => name === 'filter')
      assert.equal(schema.additionalProperties, true)
    })

    test('each argument and field is described in whole sentences', () => {
      const descriptions: string[] = []
      JSON.stringify([document.components, ...Object.values(document.paths)], (name, part) => {
        // Of an answer it is the summary of its operation.
        if (typeof part?.description === 'string' && !/^\d+$/.test(name)) descriptions.push(part.description)
        return part
      })
      assert.ok(descriptions.length > 1000)
      const wrong = descriptions.filter(text => !text.endsWith('.') || /\.[.,:;]/.test(text))
      assert.deepEqual(wrong, [], 'a kind of field that adds to a description gets it without its full stop')
    })

    test('every operation names the failures that any request, any body and any Idempotency-Key can end in', () => {
      for (const { endpoints, replayed } of resources) {
        for (const { path, methods, inParts } of endpoints) {
          for (const method of methods) {
            const { responses, operationId } = document.paths[path][method.toLowerCase()]
            const expected = ['400', '401', '403', '408', '429', '431', '500', '503']
            if (method !== 'GET') expected.push('413', '415')
            const statuses = Object.keys(responses)
            const missing = expected.filter(status => !statuses.includes(status))
            assert.deepEqual(missing, [], operationId)
            assert.equal('410' in responses, method !== 'GET' && replayed === true && !inParts, operationId)
          }
        }
      }
    })
  },
  { rateLimit: 1000 },
)
