/** What a record keeps for its sender comes back as it was sent, or is refused. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { exchange } from '../client.ts'
import { assertFailure, describeService, runCommand, temporaryFolder } from '../harness.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const LINES = { 'content-type': 'application/x-ndjson' }

/** Numbers that JavaScript cannot hold: of orders and of tokens. */
const NUMBERS = '{"order":1234567890123456789,"wei":[-1234567890.123456789012345678,0],"rate":1.5}'

describeService('JSON that is kept for its sender', service => {
  let affiliate: { id: number }
  before(async () => {
    affiliate = await service().newAffiliate('json', { status: 'active' })
  })
  /** The answer as it is written: parsed, it would have lost digits already. */
  const textOf = async (path: string) => {
    const headers = { authorization: `Bearer ${service().key.token}` }
    return (await exchange('GET', `${service().url}/v1${path}`, { headers, body: undefined })).text
  }
  const referral = (members: string) => `{"affiliate_id":${affiliate.id},"amount":1,${members}}`
  const create = (members: string) => service().post('/referrals', referral(members), { headers: JSON_TYPE })

  test('201 - numbers have all the digits that were sent', async () => {
    const { status, body } = await create(`"custom":${NUMBERS},"products":[${NUMBERS}]`)
    assert.equal(status, 201, JSON.stringify(body))
    const whole = `"custom":${NUMBERS}`
    for (const path of [`/referrals/${body.id}`, `/referrals?referral_id=${body.id}`]) {
      const text = await textOf(path)
      assert.ok(text.includes(whole), text)
      assert.ok(text.includes(`"products":[${NUMBERS}]`), text)
    }
    const events = await textOf('/events?type=referral.create&number=1000')
    assert.ok(events.includes(whole), events)
    const alone = await create('"custom":12345678901234567890')
    assert.ok((await textOf(`/referrals/${alone.body.id}`)).includes('"custom":12345678901234567890,'))
    const lines = `${referral(`"custom":${NUMBERS}`)}\n`
    const { body: results } = await service().post('/referrals', lines, { headers: LINES })
    assert.equal(results.includes(whole), true, results)
    const sale = `{"kind":"lead","reference":"json","affiliate_id":${affiliate.id},"metadata":${NUMBERS}}`
    const lead = await service().post('/conversions', sale, { headers: JSON_TYPE })
    assert.ok((await textOf(`/conversions/${lead.body.conversion.id}`)).includes(`"metadata":${NUMBERS}`))
  })

  test('200 - what is sent again is the same, and what differs in the last digit is not', async () => {
    const custom = (last: number) =>
      `"context":"shop","reference":"digits","custom":{"order":123456789012345678${last}}`
    assert.equal((await create(custom(1))).status, 201)
    assert.equal((await create(custom(1))).status, 200)
    assert.equal((await create(custom(2))).status, 409)
  })

  test('numbers of arguments are those that they mean', async () => {
    const { status, body } = await create('"amount":27.870000000000001,"order_total":3.0000000000000000')
    assert.deepEqual([status, body.amount], [201, '27.87'], JSON.stringify(body))
    const big = await create('"visit_id":1234567890123456789')
    assertFailure(big, 400, 'rest_invalid_param')
    const name = await create('"reference":1234567890123456789')
    assert.match(name.body.data.params.reference, /Send it as text, in quotes/)
    const object =
      '{"kind":"lead","reference":"o","customer":12345678901234567890,"metadata":12345678901234567890}'
    const { body: refused } = await service().post('/conversions', object, { headers: JSON_TYPE })
    assert.deepEqual(Object.keys(refused.data.params).sort(), ['customer', 'metadata'])
  })

  test('400 - what only looks like JSON with long numbers', async () => {
    for (const custom of [
      '{1234567890123456789:1}',
      '01234567890123456789',
      '1234567890123456789.',
      '[1234567890123456789 1]',
    ])
      assertFailure(await create(`"custom":${custom}`), 400, 'rest_invalid_json')
    const { status, body } = await create('"custom":["1234567890123456789","a\\"1234567890123456789"]')
    assert.deepEqual([status, body.custom], [201, ['1234567890123456789', 'a"1234567890123456789']])
  })

  test('400 - numbers that are larger than one can be', async () => {
    for (const custom of ['1e400', '{"a":[-1e400]}']) {
      assertFailure(await create(`"custom":${custom}`), 400, 'rest_invalid_param')
      const sale = `{"kind":"lead","reference":"large","metadata":{"a":${custom}}}`
      const { body } = await service().post('/conversions', sale, { headers: JSON_TYPE })
      assert.deepEqual(Object.keys(body.data.params), ['metadata'], JSON.stringify(body))
    }
    const { body } = await create('"custom":[1e308,-1e-308]')
    assert.deepEqual(body.custom, [1e308, -1e-308])
  })

  test('400 - control characters and halves of characters, in texts and in names', async () => {
    for (const text of ['"\\ud83d"', '{"a":"\\u0000"}', '{"a":[{"\\u0007":1}]}', '"\\u0085"']) {
      assertFailure(await create(`"custom":${text}`), 400, 'rest_invalid_param')
      const { body } = await create(`"custom":${text},"products":[${text}]`)
      assert.deepEqual(Object.keys(body.data.params), ['custom', 'products'], text)
      const line = await service().post('/referrals', referral(`"custom":${text}`), { headers: LINES })
      assert.equal(JSON.parse(line.body).status, 400, text)
      const sale = `{"kind":"lead","reference":"r","metadata":{"a":${text}}}`
      assertFailure(
        await service().post('/conversions', sale, { headers: JSON_TYPE }),
        400,
        'rest_invalid_param',
      )
      const { status } = await service().patch('/referrals/1', `{"custom":${text}}`, { headers: JSON_TYPE })
      assert.equal(status, 400)
    }
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const sent = `affiliate_id=${affiliate.id}&amount=1&custom=%FF`
    assertFailure(await service().post('/referrals', sent, { headers: form }), 400, 'rest_invalid_param')
    const several = '"custom":{"note":"two\\nlines\\tof \\ud83d\\ude00, \\u202ba\\u202c and a \\\\u0000"}'
    assert.equal((await create(several)).status, 201)
  })

  test('an import keeps the digits, and refuses what is refused elsewhere', async t => {
    const folder = await temporaryFolder()
    t.after(folder.remove)
    const file = join(folder.path, 'referrals.csv')
    const importing = async (custom: string) => {
      const cell = `"${custom.replaceAll('"', '""')}"`
      await writeFile(file, `affiliate_id,reference,amount,custom\n${affiliate.id},imported,1,${cell}\n`)
      return runCommand(['referrals', 'import', file, '--database', service().databaseUrl])
    }
    assert.match((await importing('{"a":"\\ud83d"}')).stderr, /custom/)
    const { code, stderr } = await importing(NUMBERS)
    assert.equal(code, 0, stderr)
    const text = await textOf('/referrals?reference=imported')
    assert.ok(text.includes(`"custom":${NUMBERS}`), text)
  })
})
