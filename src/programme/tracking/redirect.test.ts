import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { assertFailure, BROWSER, describeService, operatorOf, type Service } from '../../../test/harness.ts'
import { features } from '../../app.ts'
import { checkDatabase } from '../../operations/check/rules.ts'
import { changeSettings } from '../../settings/rules.ts'
import { readToken } from './keys.ts'
import { clickKey, newNonce, signClick } from './token.ts'

const ACTIVE = { status: 'active' }
const PAGE = 'https://shop.test/welcome?a=b%20c#top'

/** Follows an address as a browser does. */
async function follow(
  service: Service,
  path: string,
  { method = 'GET', ...headers }: Record<string, string> = {},
) {
  const response = await fetch(`${service.url}${path}`, {
    method,
    redirect: 'manual',
    headers: { 'user-agent': BROWSER, ...headers },
  })
  const location = response.headers.get('location')
  return { status: response.status, headers: response.headers, location, url: URL.parse(location ?? '') }
}

/** Visits are written within half a second. */
async function visitsOf(service: Service, affiliateId: number, count: number): Promise<any[]> {
  for (let tries = 0; ; tries++) {
    const { body } = await service.get(`/visits?affiliate_id=${affiliateId}`)
    if (body.length >= count || tries > 60) return body
    await delay(50)
  }
}

describeService('links of affiliates', service => {
  let affiliate: { id: number; date_registered: string }
  before(async () => {
    await changeSettings(operatorOf(service().database), {
      programme_page: PAGE,
      allowed_hosts: ['*.shop.test', 'other.test:8443'],
    })
    affiliate = await service().newAffiliate('walker', ACTIVE)
  })
  const create = (args: object) => service().post('/links', { affiliate_id: affiliate.id, ...args })
  const read = (url: URL | null) =>
    readToken(service().database.reader, url?.searchParams.get('aff_click') ?? '', 0)

  test('400 - the default link keeps its code and its affiliate; 200 - they are sent as they are', async () => {
    const other = await service().newAffiliate('another', ACTIVE)
    const { body } = await service().get(`/links?affiliate_id=${other.id}`)
    const path = `/links/${body[0].id}`
    for (const [name, value] of [
      ['code', 'annacode'],
      ['affiliate_id', affiliate.id],
    ] as const) {
      const refused = await service().patch(path, { [name]: value, campaign: 'x' })
      assertFailure(refused, 400, 'rest_invalid_param')
      assert.match(refused.body.data.params[name], /^must stay \d+: it is the default link/)
    }
    const { code, affiliate_id } = body[0]
    const edited = await service().patch(path, { code, affiliate_id, campaign: 'own' })
    assert.deepEqual([edited.status, edited.body.code, edited.body.campaign], [200, code, 'own'])
    assert.equal((await service().patch(path, { campaign: '' })).status, 200)
  })

  test('a default link that is deleted - its address goes on crediting the affiliate, and it can be made again', async () => {
    const other = await service().newAffiliate('without', ACTIVE)
    const { body } = await service().get(`/links?affiliate_id=${other.id}`)
    assert.equal((await service().delete(`/links/${body[0].id}`)).status, 200)
    const token = await read((await follow(service(), `/r/${other.id}`)).url)
    assert.equal(token.click?.affiliateId, other.id)
    const foreign = await create({ code: String(other.id) })
    assertFailure(foreign, 400, 'rest_invalid_param')
    assert.match(foreign.body.data.params.code, /^must have a letter/)
    const again = await create({ affiliate_id: other.id, code: String(other.id), campaign: 'own' })
    assert.deepEqual([again.status, again.body.campaign], [201, 'own'])
    const named = await create({ affiliate_id: other.id, code: 'named' })
    const renamed = await service().patch(`/links/${named.body.id}`, { code: String(other.id) })
    assertFailure(renamed, 400, 'rest_invalid_param')
    assert.deepEqual((await checkDatabase(service().database, features)).problems, [])
  })

  test('200 - each affiliate has one whose code is the identifier, and others with codes of their choice', async () => {
    const { body } = await service().get(`/links?affiliate_id=${affiliate.id}`)
    assert.equal(body.length, 1)
    assert.equal(body[0].code, String(affiliate.id))
    assert.equal(body[0].destination, '')
    assert.equal(body[0].date, affiliate.date_registered)
    const made = await create({ code: 'Spring', destination: 'https://a.shop.test/x', campaign: 'spring' })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    const random = await create({})
    assert.match(random.body.code, /^[a-z][a-z2-9]{6}$/)
    assertFailure(await create({ code: 'sprinG' }), 409, 'rest_link_code_in_use')
    assertFailure(
      await service().patch(`/links/${random.body.id}`, { code: 'SPRING' }),
      409,
      'rest_link_code_in_use',
    )
    for (const code of ['Bea Spring!', 'ä', '', 'x'.repeat(65)]) {
      const refused = await create({ code })
      assertFailure(refused, 400, 'rest_invalid_param')
      assert.deepEqual(refused.body.data.params, {
        code: 'must be 1 to 64 letters (A-Z, a-z), digits, _ and -.',
      })
    }
    const { body: wrong } = await create({
      code: '17',
      destination: 'https://evil.test/',
      campaign: 'ü'.repeat(51),
    })
    assert.deepEqual(Object.keys(wrong.data.params), ['code', 'destination', 'campaign'])
  })

  test('302 - to the destination with a token that says who is credited; the visit is there soon', async () => {
    const { id } = await service().newAffiliate('clicked', ACTIVE)
    const { body: link } = await service().post('/links', {
      affiliate_id: id,
      code: 'clicked',
      destination: 'https://a.shop.test/x?y=1#z',
      campaign: 'news',
    })
    const { status, location, headers, url } = await follow(service(), '/r/CLICKED', {
      referer: 'https://blog.test/post',
      'x-forwarded-for': '203.0.113.77',
    })
    assert.equal(status, 302)
    assert.match(location!, /^https:\/\/a\.shop\.test\/x\?y=1&aff_click=[\w-]+#z$/)
    assert.equal(headers.get('cache-control'), 'no-store')
    const { click } = await read(url)
    const { affiliateId, linkId, campaign } = click!
    assert.deepEqual([affiliateId, linkId, campaign], [id, link.id, 'news'])
    const [visit, ...others] = await visitsOf(service(), id, 1)
    assert.equal(others.length, 0)
    assert.equal(visit.url, 'https://a.shop.test/x?y=1#z')
    assert.deepEqual(
      [visit.referrer, visit.ip, visit.campaign],
      ['https://blog.test/post', '203.0.113.0', 'news'],
    )
    assert.equal((await service().get(`/affiliates/${id}`)).body.visits, 1)
    assert.equal((await service().get(`/links/${link.id}`)).body.visits, 1)
    const { body: visits } = await service().get(`/visits?link_id=${link.id}`)
    assert.equal(visits.length, 1)
    await service().delete(`/visits/${visits[0].visit_id}`)
    assert.equal((await service().get(`/links/${link.id}`)).body.visits, 0)
  })

  test('302 - by identifier and by login, in the forms that links of AffiliateWP have', async () => {
    const { id } = await service().newAffiliate('named', { ...ACTIVE, username: 'named' })
    for (const path of [
      `/r/${id}`,
      `/ref/${id}`,
      `/ref/${id}/`,
      `/?ref=${id}`,
      '/ref/NAMED',
      '/?ref=named&campaign=x',
    ]) {
      const { status, url } = await follow(service(), path)
      assert.equal(status, 302, path)
      assert.equal(url!.host, 'shop.test', path)
      assert.equal(url!.searchParams.get('a'), 'b c')
      assert.equal((await read(url)).click!.affiliateId, id, path)
    }
    assert.equal((await visitsOf(service(), id, 6)).length, 6)
    const digits = await service().newAffiliate('digits', { ...ACTIVE, username: '990044' })
    for (const path of ['/ref/990044', '/ref/990044/', '/ref/990044/shoes/7', `/r/${digits.id}/shoes`])
      assert.equal((await read((await follow(service(), path)).url)).click?.affiliateId, digits.id, path)
    const home = await follow(service(), '/')
    assert.equal(home.location, '/admin/')
  })

  test('302 - what nobody has made, and who is not active, leads on and credits nobody', async () => {
    const inactive = await service().newAffiliate('inactive', { status: 'inactive' })
    const gone = await service().newAffiliate('gone', ACTIVE)
    await service().delete(`/affiliates/${gone.id}`)
    for (const path of [
      '/r/nothing',
      '/r/nothing/at/all',
      '/r/%00',
      '/r/a%2Fb',
      '/ref/nobody',
      '/?ref=',
      '/?ref=0',
      `/r/${inactive.id}`,
      `/ref/${gone.id}`,
      `/r/${gone.id}`,
      `/r/${'x'.repeat(300)}`,
    ]) {
      assert.deepEqual((await follow(service(), path)).location, PAGE, path)
    }
  })

  test('302 - a deeper page of an allowed host, by ?to=', async () => {
    await create({ code: 'deep' })
    for (const [to, expected] of [
      ['/products/1?x=y', 'https://shop.test/products/1?x=y&aff_click='],
      ['https://a.b.shop.test/p', 'https://a.b.shop.test/p?aff_click='],
      ['https://other.test:8443/p', 'https://other.test:8443/p?aff_click='],
      ['http://shop.test/p?', 'http://shop.test/p?aff_click='],
      ['relative', 'https://shop.test/relative?aff_click='],
      ['https://shop.test/p?aff_click=stolen&q=1', 'https://shop.test/p?aff_click='],
      ['https://shop.test/p?%61ff_click=stolen', 'https://shop.test/p?aff_click='],
      ['https://shop.test/p?xaff_click=1&q=a%20b', 'https://shop.test/p?xaff_click=1&q=a%20b&aff_click='],
    ]) {
      const { location, url } = await follow(service(), `/r/deep?to=${encodeURIComponent(to!)}`)
      assert.ok(location!.startsWith(expected!), location!)
      assert.equal(url!.searchParams.getAll('aff_click').length, 1)
      assert.equal((await read(url)).refusal, undefined)
    }
  })

  test('302 - no attempt leads to another host', async () => {
    await create({ code: 'safe' })
    const attempts = [
      'https://evil.test',
      '//evil.test',
      '///evil.test',
      '////evil.test',
      '\\\\evil.test',
      '/\\evil.test',
      '\\/evil.test',
      'https:evil.test',
      'https:/evil.test',
      'https:\\\\evil.test',
      'http:evil.test/',
      'HTTPS://EVIL.TEST',
      ' https://evil.test',
      '\thttps://evil.test',
      'h\nttps://evil.test',
      '/\t/evil.test',
      '/\n/evil.test',
      'https://shop.test@evil.test',
      'https://shop.test:x@evil.test',
      'https://evil.test#@shop.test',
      'https://evil.test?shop.test',
      'https://evil.test\\@shop.test',
      'https://shop.test.evil.test',
      'https://badshop.test',
      'https://shop.test%2eevil.test',
      'https://evil.test/.shop.test',
      'https://evil.test%23.shop.test',
      'https://evil.test/%2f..shop.test',
      'https://shop.test:8443',
      'https://other.test',
      'https://shop.test.',
      'https://.shop.test',
      'javascript:alert(1)',
      'java\nscript:alert(1)',
      'data:text/html,x',
      'ftp://shop.test',
      'blob:https://shop.test/x',
      'view-source:https://shop.test',
      'file:///etc/passwd',
      'https://user@shop.test/',
      'https://user:pass@shop.test/',
      'https://shop。evil.test',
      'https://[::1]/',
      'http://0x7f.1/',
      'https://evil.test\u0000.shop.test',
      '%2f%2fevil.test',
      '/%2fevil.test',
      '..//evil.test',
      '/..//evil.test',
      './/evil.test',
      'x\r\nLocation: https://evil.test',
      '\u202ehttps://evil.test',
    ]
    assert.ok(attempts.length >= 30)
    const page = new URL(PAGE)
    for (const attempt of attempts) {
      for (const path of ['/r/safe', `/ref/${affiliate.id}`, '/r/unknown']) {
        const { status, location, url } = await follow(service(), `${path}?to=${encodeURIComponent(attempt)}`)
        assert.equal(status, 302, attempt)
        assert.ok(url, location!)
        assert.equal(url.username + url.password, '', attempt)
        assert.ok(url.host === page.host || url.host.endsWith('.shop.test'), `${attempt}: ${location}`)
        assert.match(location!, /^https:\/\/[a-z.]*shop\.test\//, attempt)
      }
    }
    // What was allowed when the link was made is not, once the settings say so.
    const { body } = await create({ code: 'late', destination: 'https://other.test:8443/' })
    await changeSettings(operatorOf(service().database), { allowed_hosts: ['*.shop.test'] })
    // Settings that another process has changed count within a second.
    const late = () => follow(service(), `/r/${body.code}`)
    for (const giveUpAt = Date.now() + 5000; (await late()).url!.host !== 'shop.test'; ) {
      assert.ok(Date.now() < giveUpAt)
      await delay(50)
    }
    await changeSettings(operatorOf(service().database), {
      allowed_hosts: ['*.shop.test', 'other.test:8443'],
    })
  })

  test('302 - bots, prefetching browsers, parts of pages and HEAD are answered and not counted', async () => {
    const { id } = await service().newAffiliate('looked', ACTIVE)
    const lookers: Record<string, string>[] = [
      { 'user-agent': 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)' },
      { 'user-agent': 'facebookexternalhit/1.1' },
      { 'user-agent': 'curl/8.5.0' },
      { 'sec-purpose': 'prefetch;prerender' },
      { purpose: 'prefetch' },
      { 'x-moz': 'prefetch' },
      { method: 'HEAD' },
      { 'sec-fetch-dest': 'image' },
      { 'sec-fetch-dest': 'iframe' },
    ]
    for (const looker of lookers) {
      const { status, url } = await follow(service(), `/r/${id}`, looker)
      assert.deepEqual([status, url!.host], [302, 'shop.test'], JSON.stringify(looker))
      const isPart = 'sec-fetch-dest' in looker
      assert.equal(url!.searchParams.has('aff_click'), !isPart, JSON.stringify(looker))
    }
    await follow(service(), `/r/${id}`, { 'sec-fetch-dest': 'document' })
    assert.equal((await visitsOf(service(), id, 1)).length, 1)
    assert.equal((await service().get(`/affiliates/${id}`)).body.visits, 1)
  })

  test('201 - a sale with the token converts the visit; a token that is refused credits nobody and says why', async () => {
    const { id } = await service().newAffiliate('sold', ACTIVE)
    const { url } = await follow(service(), `/r/${id}`)
    const token = url!.searchParams.get('aff_click')!
    const [visit] = await visitsOf(service(), id, 1)
    const sell = async (reference: string, last: string) => {
      const sale = { kind: 'sale', context: 'shop', reference, amount: 10, click: { last } }
      const { status, body } = await service().post('/conversions', sale)
      assert.equal(status, 201, JSON.stringify(body))
      return body
    }
    const { referrals } = await sell('sold 1', token)
    assert.deepEqual([referrals[0].affiliate_id, referrals[0].visit_id], [id, visit.id])
    assert.equal((await service().get(`/visits/${visit.id}`)).body.referral_id, referrals[0].id)
    const altered = `${token.slice(0, 40)}${token[40] === 'A' ? 'B' : 'A'}${token.slice(41)}`
    const foreign = signClick(
      { affiliateId: id, linkId: 0, campaign: '', time: 1_800_000_000, nonce: newNonce(1_800_000_000) },
      clickKey(1, randomBytes(32).toString('base64url')),
    )
    for (const [reason, sent] of [
      ['cut', token.slice(0, -3)],
      ['forged', altered],
      ['foreign', foreign],
    ] as const) {
      const { conversion, referrals, explanation } = await sell(`sold ${reason}`, sent)
      assert.deepEqual([conversion.affiliate_id, referrals], [0, []], reason)
      assert.equal(explanation.candidates[0].reason, `${reason}_click`)
      assert.match(explanation.candidates[0].text, new RegExp(reason))
    }
  })

  test('201 - by the last of two clicks; the explanation does not call it the earlier one', async () => {
    const clicks: { id: number; token: string }[] = []
    for (const login of ['before', 'after']) {
      const { id } = await service().newAffiliate(login, ACTIVE)
      const { url } = await follow(service(), `/r/${id}`)
      clicks.push({ id, token: url!.searchParams.get('aff_click')! })
    }
    const [first, last] = clicks
    const { body } = await service().post('/conversions', {
      kind: 'sale',
      context: 'shop',
      reference: 'two clicks',
      amount: 10,
      click: { first: first!.token, last: last!.token },
    })
    const texts = body.explanation.candidates.map(({ text }: { text: string }) => text)
    assert.deepEqual(texts, [
      `The click was on a link of affiliate ${last!.id}, who is credited.`,
      `The click was on a link of affiliate ${first!.id}, and another claim takes precedence.`,
    ])
  })

  test('no address is stored longer than its network, and repeats of a visitor are known', async () => {
    const { id } = await service().newAffiliate('private', ACTIVE)
    for (const address of ['198.51.100.7', '198.51.100.8', '2001:db8:1:2:3:4:5:6', '203.0.113.9']) {
      await follow(service(), `/r/${id}`, { 'x-forwarded-for': address })
    }
    await visitsOf(service(), id, 4)
    const rows = await service()
      .database.reader.selectFrom('visits')
      .select(['ip', 'repeated', 'nonce'])
      .where('affiliate_id', '=', id)
      .orderBy('id')
      .execute()
    assert.deepEqual(
      rows.map(({ ip, repeated }) => [ip, repeated]),
      [
        ['198.51.100.0', 0],
        ['198.51.100.0', 1],
        ['2001:db8:1::', 0],
        ['203.0.113.0', 0],
      ],
    )
    assert.ok(rows.every(({ nonce }) => nonce.length === 11))
    const today = () => Math.floor(Date.now() / 86_400_000)
    const [salt] = await service().database.reader.selectFrom('visitor_salt').selectAll().execute()
    // The day may have ended since.
    assert.ok([today(), today() - 1].includes(salt!.day), `${salt!.day}`)
  })
})
