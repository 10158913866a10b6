import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { assertFailure, describeService, operatorOf } from '../../../test/harness.ts'
import { changeSettings } from '../../settings/rules.ts'
import { readToken } from './keys.ts'

const BROWSER = { 'user-agent': 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) Gecko/20100101 Firefox/145.0' }

/** As it is sent: fetch would decompress it. */
async function ask(url: string, headers: Record<string, string>) {
  const sent = request(url, { headers }).end()
  const [response] = await once(sent, 'response')
  return { status: response.statusCode, headers: response.headers, body: await buffer(response) }
}

describeService('the script', service => {
  const beacon = (sent: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(`${service().url}/a`, {
      method: 'POST',
      body: new URLSearchParams(sent),
      headers: { ...BROWSER, ...headers },
    })

  test('200 - compressed as the browser takes it, with a tag of its own; 304 - to who has it', async () => {
    const url = `${service().url}/a.js`
    const texts = new Set<string>()
    const tags = new Set<string>()
    for (const [accepted, encoding, open] of [
      ['gzip, deflate, br', 'br', brotliDecompressSync],
      ['gzip;q=1.0', 'gzip', gunzipSync],
      ['br;q=0, identity', undefined, (body: Buffer) => body],
    ] as const) {
      const { status, headers, body } = await ask(url, { 'accept-encoding': accepted })
      assert.deepEqual(
        [status, headers['content-encoding'], headers.vary],
        [200, encoding, 'Accept-Encoding'],
      )
      assert.match(headers['content-type'], /^text\/javascript/)
      assert.equal(headers['access-control-allow-origin'], '*')
      assert.match(headers['cache-control'], /max-age=\d+/)
      texts.add(open(body).toString())
      tags.add(headers.etag)
      const again = await ask(url, { 'accept-encoding': accepted, 'if-none-match': headers.etag })
      assert.deepEqual([again.status, again.body.length, again.headers.etag], [304, 0, headers.etag])
    }
    assert.equal(texts.size, 1)
    assert.equal(tags.size, 3)
    const [text] = texts
    assert.ok(text!.includes('[2592000,false,'), 'days of the window, consent')
  })

  test('200 - a beacon is answered with a token that pages of any origin may read, and 204 - for nobody', async () => {
    const { id } = await service().newAffiliate('seen', { status: 'active' })
    const answer = await beacon({ ref: String(id), url: `https://any.test/?ref=${id}&x=1`, campaign: 'c' })
    assert.deepEqual([answer.status, answer.headers.get('access-control-allow-origin')], [200, '*'])
    assert.equal(answer.headers.get('set-cookie'), null)
    const { click } = await readToken(service().database.reader, await answer.text(), 0)
    assert.deepEqual([click!.affiliateId, click!.campaign], [id, 'c'])
    for (const sent of [
      {},
      { ref: '' },
      { ref: 'nobody' },
      { ref: '0' },
      { ref: 'x'.repeat(3000) },
      { ref: '\0' },
    ]) {
      assert.equal((await beacon(sent)).status, 204)
    }
    assertFailure(
      await service().send('POST', '/../a', { body: 'x'.repeat(9000), key: null }),
      413,
      'rest_request_too_large',
    )
  })

  test('200 - on the host of the shop itself, the cookie is set by the service and keeps the first token', async () => {
    const { id } = await service().newAffiliate('own', { status: 'active' })
    const first = await (await beacon({ ref: String(id) })).text()
    const answer = await beacon(
      { ref: String(id) },
      {
        'sec-fetch-site': 'same-origin',
        cookie: `a=b; aff_click=${first}.${first}`,
        'x-forwarded-proto': 'https',
      },
    )
    const last = await answer.text()
    const expected = `aff_click=${first}.${last}; Path=/; SameSite=Lax; Max-Age=2592000; Secure`
    assert.equal(answer.headers.get('set-cookie'), expected)
  })

  test('200 - the token of a click is put into the cookie on the host of the shop itself, and no visit is counted', async () => {
    const { id } = await service().newAffiliate('redirected', { status: 'active' })
    const token = await (await beacon({ ref: String(id) })).text()
    const same = { 'sec-fetch-site': 'same-origin' }
    const answer = await beacon({ aff_click: token }, same)
    assert.deepEqual([answer.status, await answer.text()], [200, token])
    assert.match(answer.headers.get('set-cookie')!, new RegExp(`^aff_click=${token}\\.${token}; `))
    const elsewhere = await beacon({ aff_click: token }, { 'sec-fetch-site': 'same-site' })
    assert.equal(elsewhere.headers.get('set-cookie'), null)
    for (const wrong of ['', 'short', `${token};x=y`, 'x'.repeat(201)]) {
      const { status, headers } = await beacon({ aff_click: wrong }, same)
      assert.deepEqual([status, headers.get('set-cookie')], [204, null], wrong)
    }
    const counted = async () => (await service().get(`/visits?affiliate_id=${id}`)).body.length
    while ((await counted()) === 0);
    assert.equal(await counted(), 1)
  })

  test('204 - a page on a host that the settings do not name; what was seen is there for the owner', async () => {
    const { id } = await service().newAffiliate('host', { status: 'active' })
    await changeSettings(operatorOf(service().database), { allowed_hosts: ['shop.test'] })
    // Settings that another process has changed count within a second.
    const elsewhere = () => beacon({ ref: String(id), url: 'https://evil.test/' })
    while ((await elsewhere()).status !== 204);
    assert.equal((await beacon({ ref: String(id), url: 'https://shop.test/x' })).status, 200)
    const admin = await service().admin()
    const pages = async () => (await admin.get('/tracking')).body.pages
    while ((await pages()).length < 2);
    const [other, shop] = await pages()
    assert.deepEqual([other.host, other.outcome, other.url], ['', 'other host', 'https://evil.test/'])
    assert.deepEqual([shop.host, shop.outcome, shop.affiliate_id], ['shop.test', 'counted', id])
    // Of a host that is not named any more nothing is said.
    await changeSettings(operatorOf(service().database), { allowed_hosts: ['other.test'] })
    while ((await pages()).length > 1);
    assert.equal((await pages())[0].host, '')
  })

  test('a report that is not counted after one that was - when that was is still there for the owner', async () => {
    const { id } = await service().newAffiliate('counted', { status: 'active' })
    await changeSettings(operatorOf(service().database), { allowed_hosts: ['pay.test'] })
    const admin = await service().admin()
    const url = 'https://pay.test/'
    const seen = async (outcome: string) => {
      for (;;) {
        const { pages } = (await admin.get('/tracking')).body
        const found = pages.find((page: any) => page.host === 'pay.test' && page.outcome === outcome)
        if (found) return found
      }
    }
    // Settings that another process has changed count within a second. These are of one batch, and then one is of its own.
    while ((await beacon({ ref: String(id), url })).status !== 200);
    await beacon({ ref: 'nobody', url })
    const { last_counted } = await seen('no affiliate')
    assert.notEqual(last_counted, '')
    await beacon({ ref: String(id), url }, { 'user-agent': 'curl/8.5.0' })
    assert.equal((await seen('not counted')).last_counted, last_counted)
    await beacon({ ref: String(id), url })
    const again = await seen('counted')
    assert.equal(again.last_counted, again.seen)
  })

  test('200 - below a wildcard of the settings, the cookie of the service is shared by all hosts, as that of the script is', async () => {
    const { id } = await service().newAffiliate('shared', { status: 'active' })
    const hosts = ['*.www.shop.test', 'other.test', '*.shop.test:8443']
    await changeSettings(operatorOf(service().database), { allowed_hosts: hosts })
    const from = (host: string) =>
      beacon(
        { ref: String(id), url: 'https://other.test/' },
        { 'sec-fetch-site': 'same-origin', origin: `http://${host}` },
      )
    // Settings that another process has changed count within a second.
    while ((await from('other.test')).status !== 200);
    const domainAt = async (host: string) =>
      /Domain=([^;]+)/.exec((await from(host)).headers.get('set-cookie')!)?.[1]
    assert.equal(await domainAt('shop.test'), 'shop.test')
    assert.equal(await domainAt('a.www.shop.test:8443'), 'shop.test')
    assert.equal(await domainAt('badshop.test'), undefined)
    assert.equal(await domainAt('other.test'), undefined)
  })
})
