import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { resources } from '../../src/app.ts'
import { memberOf } from '../../src/base/unknown.ts'
import { changeSettings } from '../../src/settings/rules.ts'
import { assertFailure, describeService, operatorOf } from '../harness.ts'

describeService('discovery', service => {
  const options = (path: string) => service().send('OPTIONS', path)

  /** The OpenAPI document, with what it refers to in its place. */
  const document = async (): Promise<any> => {
    const { body } = await service().get('/openapi.json')
    const validator = new Validator()
    const { valid, errors } = await validator.validate(body)
    assert.ok(valid, JSON.stringify(errors))
    return validator.resolveRefs()
  }

  test('200 - OPTIONS on a collection', async () => {
    const { status, headers, body } = await options('/affiliates')
    assert.equal(status, 200)
    assert.equal(headers.get('allow'), 'HEAD, GET, POST, PUT, PATCH, OPTIONS')
    assert.deepEqual(Object.keys(body), ['namespace', 'methods', 'endpoints', 'schema', '_links'])
    assert.equal(body.namespace, 'v1')
    assert.deepEqual(body.methods, ['GET', 'POST', 'PUT', 'PATCH'])
    assert.deepEqual(
      body.endpoints.map((endpoint: any) => endpoint.methods),
      [['GET'], ['POST', 'PUT', 'PATCH']],
    )
    const { args } = body.endpoints[1]
    assert.deepEqual(args.status, {
      type: 'string',
      required: false,
      enum: ['active', 'inactive', 'pending', 'rejected'],
      description: 'Status; pending when omitted.',
      default: 'pending',
    })
    assert.deepEqual(args.rate_type.enum, ['', 'percentage', 'flat'])
    assert.equal(body.schema.properties.rate.type, 'string')
    assert.equal(body._links.self[0].href, `${service().url}/v1/affiliates`)
  })

  test('200 - OPTIONS on an item, also on one that is not there', async () => {
    const { body, headers } = await options('/payouts/4711')
    assert.equal(headers.get('allow'), 'HEAD, GET, POST, PATCH, PUT, DELETE, OPTIONS')
    const edit = body.endpoints.find((endpoint: any) => endpoint.methods.includes('PATCH'))
    assert.equal(edit.args.affiliate_id.required, true)
    assert.equal(edit.args.amount.type, 'number')
    assert.equal(body._links.self[0].href, `${service().url}/v1/payouts/4711`)
    assert.equal((await options('/payouts/2/')).body._links.self[0].href, `${service().url}/v1/payouts/2`)
  })

  test('200 - OPTIONS says of every argument whether it is required, and of objects as well', async () => {
    const { body } = await options('/rules/preview')
    assert.equal(body.endpoints[0].args.rule.required, false)
    const { body: index } = await service().get('')
    for (const [path, { endpoints }] of Object.entries<any>(index.routes)) {
      for (const { args } of endpoints) {
        for (const [name, { required }] of Object.entries<any>(args))
          assert.equal(typeof required, 'boolean', `${path} ${name}`)
      }
    }
  })

  test('200 - OpenAPI describes every argument, with what is in it, and every field of a record', async () => {
    const body = await document()
    const without: string[] = []
    const look = (place: string, { properties = {}, items, anyOf = [] }: any) => {
      for (const [name, property] of Object.entries<any>(properties)) {
        if (!property.description) without.push(`${place} ${name}`)
        look(`${place} ${name}`, property)
      }
      for (const part of [items, ...anyOf]) if (part) look(place, part)
    }
    for (const [path, operations] of Object.entries<any>(body.paths)) {
      for (const [method, { parameters = [], requestBody }] of Object.entries<any>(operations)) {
        const place = `${method} ${path}`
        for (const { name, description, schema } of parameters) {
          if (!description) without.push(`${place} ${name}`)
          look(`${place} ${name}`, schema)
        }
        for (const { schema } of Object.values<any>(requestBody?.content ?? {})) look(place, schema)
      }
    }
    for (const { name, record } of resources) {
      for (const [field, { description }] of Object.entries<any>(record.properties))
        if (!description) without.push(`${name} ${field}`)
    }
    assert.deepEqual(without, [])
  })

  test('200 - OPTIONS shows the rate types of the settings', async () => {
    const context = operatorOf(service().database)
    await changeSettings(context, { rate_types: ['percentage', 'flat', 'tiered'] })
    await new Promise(resolve => setTimeout(resolve, 600))
    const { body } = await options('/affiliates/1')
    const edit = body.endpoints.find((endpoint: any) => endpoint.methods.includes('PATCH'))
    assert.deepEqual(edit.args.rate_type.enum, ['', 'percentage', 'flat', 'tiered'])
  })

  test('200 - the index lists every route under each base path', async () => {
    for (const [path, base, namespace] of [
      ['', '/v1', 'v1'],
      ['/../wp-json/affwp/v1', '/wp-json/affwp/v1', 'affwp/v1'],
    ] as const) {
      const { body } = await service().get(path)
      assert.equal(body.namespace, namespace)
      const paths = resources.flatMap(({ endpoints, signed = [] }) =>
        [...endpoints, ...signed].map(({ path }) => base + path),
      )
      assert.deepEqual(Object.keys(body.routes), [...new Set(paths)])
      assert.ok(body.routes[`${base}/payouts/{payout_id}`])
      assert.equal(body.routes[`${base}/payouts/{payout_id}`]._links, undefined)
      assert.equal(body.routes[`${base}/payouts`]._links.self[0].href, `${service().url}${base}/payouts`)
    }
  })

  test('200 - /wp-json is the index of a WordPress site, for anybody', async () => {
    const ask = (method: string, path: string, headers = {}) =>
      service().send(method, `/..${path}`, { key: null, headers })
    const { status, body } = await ask('GET', '/wp-json')
    assert.equal(status, 200)
    assert.deepEqual(body.namespaces, ['affwp/v1', 'wp/v2'])
    assert.deepEqual([body.home, body.url], Array(2).fill(service().url))
    assert.deepEqual(body.routes['/affwp/v1/payouts'].methods, ['GET', 'POST', 'PUT', 'PATCH'])
    assert.ok(body.routes['/affwp/v1/payouts/(?P<payout_id>\\d+)'])
    const { self } = body.routes['/wp/v2/users']._links
    assert.deepEqual(self, [{ href: `${service().url}/wp-json/wp/v2/users` }])
    assert.deepEqual((await ask('GET', '/wp-json/?context=view')).body, body)
    assert.equal((await ask('HEAD', '/wp-json/')).status, 200)
    const options = await ask('OPTIONS', '/wp-json')
    assert.deepEqual([options.status, options.headers.get('allow')], [200, 'HEAD, GET, OPTIONS'])
    assert.deepEqual(options.body.methods, ['GET'])
    assertFailure(await ask('POST', '/wp-json'), 405, 'rest_no_route')
    assertFailure(await ask('GET', '/wp-json/nothing'), 404, 'rest_no_route')
  })

  test('200 - OpenAPI 3.1 that a validator takes, with every endpoint', async () => {
    const body = await document()
    assert.equal(body.openapi, '3.1.0')
    for (const { endpoints } of resources) {
      for (const { path, methods } of endpoints) {
        for (const method of methods) assert.ok(body.paths[path][method.toLowerCase()], `${method} ${path}`)
      }
    }
    const ofPayouts = body.paths['/payouts']
    const { referrals } = ofPayouts.post.requestBody.content['application/json'].schema.properties
    const described = (await options('/payouts')).body.endpoints[1].args.referrals
    assert.deepEqual([referrals.type, described.type], Array(2).fill(['array', 'string']))
    const { order } = Object.fromEntries(ofPayouts.get.parameters.map((it: any) => [it.name, it.schema]))
    assert.deepEqual(order.enum, ['asc', 'desc', 'ASC', 'DESC'])
    // With the fields that were chosen, or as bare identifiers.
    const [record, id] = ofPayouts.get.responses[200].content['application/json'].schema.items.anyOf
    assert.deepEqual([record.required, id.type], [undefined, 'integer'])
    const answers = (path: string, method: string) =>
      Object.entries(body.paths[path][method].responses)
        .filter(([status]) => status.startsWith('2'))
        .map(([status, { content }]: any) => [status, ...Object.keys(content)].join(' '))
    const lines = 'application/x-ndjson'
    assert.deepEqual(answers('/referrals', 'post'), [`200 application/json ${lines}`, '201 application/json'])
    assert.deepEqual(answers('/affiliates', 'post'), [`200 ${lines}`, '201 application/json'])
    assert.deepEqual(answers('/conversions/bulk', 'post'), [`200 ${lines}`])
    assert.deepEqual(answers('/payout-runs/{payout_run_id}/files/sepa', 'get'), ['200 application/xml'])
    assert.deepEqual(answers('/payout-runs/{payout_run_id}/reconciliation/csv', 'get'), ['200 text/csv'])
    const conditionsOf = (path: string, method: string) => {
      const { parameters = [], responses } = body.paths[path][method]
      const names = parameters.filter((one: any) => one.in === 'header').map((one: any) => one.name)
      return [...names.filter((name: string) => name.startsWith('If-')), 304 in responses, 412 in responses]
    }
    const run = '/payout-runs/{payout_run_id}'
    for (const step of ['', '/approve', '/cancel', '/close', '/results', '/files/sepa'])
      assert.deepEqual(conditionsOf(run + step, 'post'), ['If-Match', false, true], step)
    assert.deepEqual(conditionsOf('/affiliates/{affiliate_id}', 'delete'), ['If-Match', false, true])
    assert.deepEqual(conditionsOf(run, 'get'), ['If-None-Match', true, false])
    // These answer no record, so they have no tag.
    for (const list of ['/items', '/files', '/files/sepa', '/reconciliation'])
      assert.deepEqual(conditionsOf(run + list, 'get'), [false, false], list)
    for (const path of ['/payout-runs', '/payouts/bulk'])
      assert.deepEqual(conditionsOf(path, 'post'), [false, false], path)
    const operations = Object.values(body.paths).flatMap((path: any) => Object.values(path)) as any[]
    assert.equal(new Set(operations.map(operation => operation.operationId)).size, operations.length)
  })

  test('200 - OpenAPI names each record and body once', async () => {
    const { body } = await service().get('/openapi.json')
    const { schemas } = body.components
    const inJson = ({ content }: any) => content['application/json'].schema
    const { post } = body.paths['/affiliates']
    assert.deepEqual(inJson(post.responses[201]), { $ref: '#/components/schemas/Affiliate' })
    for (const { schema } of Object.values<any>(post.requestBody.content))
      assert.deepEqual(schema, { $ref: '#/components/schemas/AffiliatesCreateBody' })
    assert.deepEqual(schemas.AffiliatesCreateLine.properties.affiliate, inJson(post.responses[201]))
    for (const { name, record } of resources) {
      const named = schemas[String(memberOf(record, 'title'))]
      assert.deepEqual(Object.keys(named.properties), Object.keys(record.properties), name)
    }
  })
})
