import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { before, describe, test } from 'node:test'
import { features } from '../../src/app.ts'
import { foldAccents, foldCase } from '../../src/base/text.ts'
import { fillWithDemo } from '../../src/operations/demo/demo.ts'
import { assertFailure, describeService, type Reply, type Service } from '../harness.ts'

/** Follows the Link headers from a first page to the end. */
async function follow(service: Service, path: string): Promise<any[]> {
  const rows: any[] = []
  for (let next: string | undefined = path; next !== undefined; ) {
    const { status, body, headers }: Reply = await service.get(next)
    assert.equal(status, 200, JSON.stringify(body))
    rows.push(...body)
    next = /<[^>]*\/v1([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
  }
  return rows
}

const ids = (rows: any[]): number[] => rows.map(row => row.id)
const compare = (a: string | number, b: string | number) => (a < b ? -1 : a > b ? 1 : 0)
/** Text is compared by code point, as UTF-8 bytes are. */
const sortable = (value: unknown) =>
  typeof value === 'string' ? Buffer.from(value).toString('hex') : (value as number)

describeService('lists', service => {
  before(async () => {
    await fillWithDemo(service().database, features, {
      affiliates: 130,
      payouts: 260,
      until: Date.UTC(2026, 8, 27) / 1000,
    })
  })

  describe('paging and order', () => {
    const orders = {
      affiliates:
        'affiliate_id id user_id rate rate_type payment_email status earnings unpaid_earnings referrals visits date_registered',
      payouts: 'payout_id id affiliate_id referrals amount payout_method status date owner',
    }
    for (const [resource, names] of Object.entries(orders)) {
      for (const orderby of names.split(' ')) {
        test(`200 - ${resource} by ${orderby}, all at once, by cursor and by offset are the same rows`, async () => {
          const all = (await service().get(`/${resource}?number=-1`)).body
          const value = (row: any) =>
            orderby === 'rate' ? Number(row.rate === '' ? -1 : row.rate) : sortable(row[orderby])
          for (const order of ['asc', 'DESC']) {
            const sign = order === 'asc' ? 1 : -1
            const expected = ids([...all].sort((a, b) => sign * (compare(value(a), value(b)) || a.id - b.id)))
            const query = `/${resource}?orderby=${orderby}&order=${order}`
            assert.deepEqual(ids((await service().get(`${query}&number=0`)).body), expected)
            assert.deepEqual(ids(await follow(service(), `${query}&number=37`)), expected)
            assert.deepEqual(
              ids((await service().get(`${query}&number=10&offset=95`)).body),
              expected.slice(95, 105),
            )
          }
        })
      }
    }

    /** What a list by cursor and all at once are in an order, which is that of a value of each row. */
    const assertOrdered = async (resource: string, orderby: string, value: (row: any) => string) => {
      const all = (await service().get(`/${resource}?number=-1&user=1`)).body
      for (const order of ['asc', 'desc']) {
        const sign = order === 'asc' ? 1 : -1
        const sorted = all.toSorted((a: any, b: any) => sign * (compare(value(a), value(b)) || a.id - b.id))
        const query = `/${resource}?orderby=${orderby}&order=${order}`
        assert.deepEqual(ids(await follow(service(), `${query}&number=47`)), ids(sorted))
        assert.deepEqual(ids((await service().get(`${query}&number=-1`)).body), ids(sorted))
      }
    }

    test('200 - by the name of the affiliate, those who are gone first, and rates by type and then value', async () => {
      const rates = [
        { rate: 5, rate_type: 'flat' },
        { rate: 100, rate_type: 'flat' },
        { rate: 9 },
        { rate_type: 'flat' },
      ]
      const rated = await Promise.all(
        rates.map((rate, index) => service().newAffiliate(`rated${index}`, { ...rate })),
      )
      const gone = await service().newAffiliate('gone')
      const payout = await service().newPayout(gone.id, { amount: 1 })
      await service().delete(`/affiliates/${gone.id}`)
      const affiliates = (await service().get('/affiliates?number=-1&user=1')).body
      const key = ({ user }: any) =>
        String(sortable(user.display_name ? foldAccents(user.display_name) : foldCase(user.login)))
      const names = new Map<number, string>(affiliates.map((row: any) => [row.id, key(row)]))
      await assertOrdered('affiliates', 'name', key)
      await assertOrdered('payouts', 'affiliate_name', row => names.get(row.affiliate_id) ?? '')
      await service().delete(`/payouts/${payout.id}`)
      const number = (rate: string) => String(rate === '' ? 0 : 1 + Number(rate) * 10_000).padStart(12, '0')
      await assertOrdered('affiliates', 'rate_by_type', row => `${row.rate_type} ${number(row.rate)}`)
      for (const { id } of rated) await service().delete(`/affiliates/${id}`)
    })

    test('200 - by text that searches look at, as they do: in any case of letters, names of people with any accents', async () => {
      const { id } = await service().newAffiliate('ordered')
      for (const [index, name] of ['Zimmer', 'adams', 'Äpfel', 'apple', 'de Vries', 'ZOE', 'Zoë'].entries()) {
        const email = `${name.replace(' ', '.')}@example.com`
        for (const [path, sent] of [
          ['/customers', { email, last_name: name }],
          ['/groups', { name: `${name} ${index}` }],
          ['/coupons', { code: `${name} ${index}`, affiliate_id: id }],
        ] as const) {
          assert.equal((await service().post(path, sent)).status, 201)
        }
      }
      await assertOrdered('customers', 'last_name', row => String(sortable(foldAccents(row.last_name))))
      await assertOrdered('customers', 'email', row => String(sortable(foldCase(row.email))))
      await assertOrdered('groups', 'name', row => String(sortable(foldCase(row.name))))
      await assertOrdered('coupons', 'code', row => String(sortable(foldCase(row.code))))
      await service().delete(`/affiliates/${id}`)
    })

    test('200 - by a long text, of which the first 100 characters count', async () => {
      const same = 'é'.repeat(99)
      const { id } = await service().newAffiliate('long')
      for (const end of ['b', 'B', 'a', 'b then', 'b before that', '']) {
        const referral = {
          affiliate_id: id,
          amount: 1,
          description: `${same}${end}`,
          custom: `${same}${end}`,
        }
        for (const [path, sent] of [
          ['/creatives', { text: `${same}${end}`, image: `https://shop.example/${end}` }],
          ['/referrals', referral],
          ['/visits', { affiliate_id: id, url: `https://shop.example/${same}${end}` }],
        ] as const) {
          assert.equal((await service().post(path, sent)).status, 201)
        }
      }
      const beginning = (text: string) => String(sortable([...text].slice(0, 100).join('')))
      await assertOrdered('creatives', 'text', row => beginning(row.text))
      await assertOrdered('creatives', 'image', row => beginning(row.image))
      await assertOrdered('visits', 'url', row => beginning(foldCase(row.url)))
      await assertOrdered('referrals', 'description', row => beginning(foldAccents(row.description)))
      await assertOrdered('referrals', 'custom', row => beginning(row.custom && JSON.stringify(row.custom)))
      await assertOrdered('referrals', 'currency', row => row.currency)
      await service().delete(`/affiliates/${id}`)
    })

    test('403 - names of affiliates order nothing for who may not read them', async () => {
      const key = await service().newKey(['payouts.read'])
      assert.equal((await service().get('/payouts', { key })).status, 200)
      const refused = await service().get('/payouts?orderby=affiliate_name', { key })
      assertFailure(refused, 403, 'rest_forbidden')
      assert.equal(refused.body.data.permission, 'affiliates.read')
    })

    test('200 - twenty by identifier when nothing is sent', async () => {
      const { body } = await service().get('/affiliates')
      assert.deepEqual(
        ids(body),
        Array.from({ length: 20 }, (_, index) => index + 1),
      )
    })

    test('200 - orderby=date is the date of the record', async () => {
      const { body } = await service().get('/affiliates?orderby=date&number=-1')
      assert.deepEqual(body, (await service().get('/affiliates?orderby=date_registered&number=-1')).body)
    })

    test('200 - rows that come and go meanwhile repeat and hide no other', async () => {
      const first = await service().get('/payouts?orderby=amount&number=100')
      await service().newPayout(1, { amount: 0 })
      await service().delete(`/payouts/${first.body[50].id}`)
      const link = /v1([^>]*)>/.exec(first.headers.get('link')!)![1]!
      const rest = await follow(service(), link)
      assert.equal(new Set([...ids(first.body), ...ids(rest)]).size, 260)
    })

    test('200 - X-Total-Count counts all pages; the last page has no link', async () => {
      const { headers, body } = await service().get('/affiliates?number=200&count=1')
      assert.equal(headers.get('x-total-count'), '130')
      assert.equal(body.length, 130)
      assert.equal(headers.get('link'), null)
    })

    test('200 - an empty list', async () => {
      for (const path of [
        '/affiliates?offset=5000',
        '/affiliates?number=-1&offset=5000',
        '/payouts?owner=999',
      ]) {
        const { status, body } = await service().get(path)
        assert.equal(status, 200)
        assert.deepEqual(body, [])
      }
    })

    test('400 - cursors that were not made here', async () => {
      const { headers } = await service().get('/affiliates?number=1&orderby=earnings')
      const cursor = /cursor=([\w-]+)/.exec(headers.get('link')!)![1]!
      assert.equal((await service().get(`/affiliates?cursor=${cursor}`)).status, 200)
      const wrong = ['x', `${cursor}&orderby=visits`, `${cursor}&order=desc`, `${cursor}&offset=2`]
      for (const parts of [
        ['earnings', 'asc', "1' OR 1=1", 1],
        ['earnings', 'asc', 1, 'x'],
        ['__proto__', 'asc', 1, 1],
        {},
        null,
      ]) {
        wrong.push(Buffer.from(JSON.stringify(parts)).toString('base64url'))
      }
      for (const query of wrong) {
        assertFailure(await service().get(`/affiliates?cursor=${query}`), 400, 'rest_invalid_param')
      }
    })

    test('400 - numbers that are none', async () => {
      for (const query of [
        'number=-2',
        'number=ten',
        'offset=-1',
        'number=1.5',
        'orderby=notes',
        'order=up',
        'number=1&number=2',
      ]) {
        assertFailure(await service().get(`/payouts?${query}`), 400, 'rest_invalid_param')
      }
    })
  })

  describe('fields', () => {
    test('200 - ids, some, all', async () => {
      assert.deepEqual((await service().get('/affiliates?fields=ids&number=3')).body, [1, 2, 3])
      const some = (await service().get('/affiliates?fields=status,affiliate_id&number=1&effective=1'))
        .body[0]
      assert.deepEqual(Object.keys(some), ['affiliate_id', 'status', 'effective'])
      assert.deepEqual(Object.keys(some.effective), ['rate', 'rate_type', 'payment_email'])
      const all = await service().get('/affiliates?fields=*&number=2')
      assert.deepEqual(all.body, (await service().get('/affiliates?number=2')).body)
      assertFailure(await service().get('/affiliates?fields=notes'), 400, 'rest_invalid_param')
    })
  })

  describe('filters', () => {
    const matching = async (resource: string, query: string, holds: (row: any) => boolean) => {
      const all = (await service().get(`/${resource}?number=-1`)).body
      const { status, body } = await service().get(`/${resource}?number=-1&${query}`)
      assert.equal(status, 200, JSON.stringify(body))
      assert.deepEqual(ids(body), ids(all.filter(holds)), query)
      const counted = await service().get(`/${resource}?count=1&${query}`)
      assert.equal(counted.headers.get('x-total-count'), String(body.length))
      return body.length as number
    }

    const affiliates: Record<string, (row: any) => boolean> = {
      'status=active': row => row.status === 'active',
      'status=active,pending': row => ['active', 'pending'].includes(row.status),
      'status[]=rejected&status[]=pending': row => ['rejected', 'pending'].includes(row.status),
      'status=inactive&status=rejected': row => ['inactive', 'rejected'].includes(row.status),
      'filter[status]=active': row => row.status === 'active',
      'filter[status][]=active&filter[affiliate_id]=1,2,3,4,5,6,7,8,9': row =>
        row.status === 'active' && row.id <= 9,
      'affiliate_id=4,7': row => [4, 7].includes(row.id),
      'exclude=1,2': row => row.id > 2,
      'user_id[]=5': row => row.user_id === 5,
      'rate_type=flat': row => row.rate_type === 'flat',
      'payment_email=PAY.100@example.org': row => row.payment_email === 'pay.100@example.org',
      'date=2024-01-08': row => row.date_registered.startsWith('2024-01-08'),
      // Of a moment, its day.
      'date=2024-01-08%2017:30:00': row => row.date_registered.startsWith('2024-01-08'),
      'date=2024-01-09T00:30:00%2B01:00': row => row.date_registered.startsWith('2024-01-08'),
      'date[start]=2024-02-01&date[end]=2024-03-31': row =>
        row.date_registered >= '2024-02-01' && row.date_registered < '2024-04-01',
      'filter[date][start]=2024-03-01': row => row.date_registered >= '2024-03-01',
      // The founders were put into their group afterwards.
      'updated_since=2024-04-01': row => row.date_registered >= '2024-04-01' || row.id <= 5,
    }
    for (const [query, holds] of Object.entries(affiliates)) {
      test(`200 - affiliates?${query}`, async () => {
        assert.ok((await matching('affiliates', query, holds)) > 0)
      })
    }

    const payouts: Record<string, (row: any) => boolean> = {
      'status=failed': row => row.status === 'failed',
      'affiliate_id=3&status=paid': row => row.affiliate_id === 3 && row.status === 'paid',
      'payout_id=5,6': row => [5, 6].includes(row.id),
      'exclude[]=5&exclude[]=6': row => ![5, 6].includes(row.id),
      'referrals=12,30': row => row.referrals.split(',').some((id: string) => id === '12' || id === '30'),
      'amount[min]=100&amount[max]=200': row => row.amount >= 100 && row.amount <= 200,
      'amount=100&amount_compare=<': row => row.amount < 100,
      'amount=100&amount_compare=>=': row => row.amount >= 100,
      'amount=5&amount_compare=!=': row => row.amount !== 5,
      'payout_method=bank transfer,paypal': row => ['bank transfer', 'paypal'].includes(row.payout_method),
      'owner=1': row => row.owner === 1,
      'search=TRANS': row => row.payout_method.includes('trans'),
      'search=7': row => row.id === 7,
      'date[end]=2024-06-30': row => row.date < '2024-07-01',
      'updated_since=2025-01-01 12:00:00': row => row.date >= '2025-01-01 12:00:00',
    }
    for (const [query, holds] of Object.entries(payouts)) {
      test(`200 - payouts?${query}`, async () => {
        assert.ok((await matching('payouts', encodeURI(query), holds)) > 0)
      })
    }

    test('200 - an exact amount', async () => {
      const { amount, id } = (await service().get('/payouts?number=1')).body[0]
      assert.ok(ids((await service().get(`/payouts?amount=${amount}&number=-1`)).body).includes(id))
    })

    test('200 - a value that is empty narrows nothing', async () => {
      assert.equal((await service().get('/affiliates?number=-1&status=&affiliate_id=')).body.length, 130)
    })

    test('400 - wrong values', async () => {
      for (const query of [
        'status=open',
        'affiliate_id=x',
        'affiliate_id=0',
        'date=2024-02-30',
        'date[start]=x',
        'updated_since=now',
      ]) {
        assertFailure(await service().get(`/affiliates?${query}`), 400, 'rest_invalid_param')
      }
      for (const query of ['amount=1.234', 'amount[min]=x', 'amount=5&amount_compare=like']) {
        assertFailure(await service().get(`/payouts?${query}`), 400, 'rest_invalid_param')
      }
    })
  })
})

describeService('search', service => {
  const letters = ['100%', 'a_b', "o'neil", 'back\\slash', 'say "hi"', 'ÄRGER', '%_%']
  before(async () => {
    await service().newAffiliate('plain')
    for (const [index, name] of letters.entries()) {
      const { id } = await service().newAffiliate(`letters${index}`)
      await service().newPayout(id, { payout_method: name })
    }
    await service().newAffiliate('percent', { payment_email: 'a%b@example.com' })
    await service().newAffiliate('under', { payment_email: 'a_c@example.com', username: 'Under_score' })
  })

  for (const name of letters) {
    test(`200 - the letters of ${name} stand for themselves`, async () => {
      const query = encodeURIComponent(name)
      const methods = (rows: any[]) => rows.map(row => row.payout_method)
      assert.deepEqual(methods((await service().get(`/payouts?payout_method[]=${query}`)).body), [name])
      const found = methods((await service().get(`/payouts?search=${query}`)).body)
      assert.deepEqual(
        found,
        letters.filter(other => other.toLowerCase().includes(name.toLowerCase())),
      )
    })
  }

  test('200 - affiliates by part of a login, by exact payment e-mail, by identifier', async () => {
    const find = async (text: string) =>
      (await service().get(`/affiliates?search=${encodeURIComponent(text)}`)).body
    assert.equal((await find('UNDER_s')).length, 1)
    assert.equal((await find('%')).length, 1)
    assert.equal((await find('_')).length, 1)
    assert.equal((await find('PLAIN@example.com')).length, 1)
    assert.equal((await find('plain')).length, 1)
    await service().newAffiliate('called3')
    assert.deepEqual(ids(await find('3')), [3])
    await service().newPayout(3, { payout_method: 'bank 2' })
    assert.deepEqual(ids((await service().get('/payouts?search=2')).body), [2])
    assert.deepEqual(ids(await find('#3')), [3])
    assert.deepEqual(await find('nobody'), [])
    assert.deepEqual(await find("' OR '1'='1"), [])
  })
})

describeService('long lists', service => {
  test('200 - pages of any size lead to the next', async () => {
    await fillWithDemo(service().database, features, { affiliates: 10, payouts: 1300 })
    const all = ids((await service().get('/payouts?number=0')).body)
    assert.equal(all.length, 1300)
    const [, next] = /<([^>]+)>/.exec(
      (await service().get('/payouts?number=2&%6fffset=1')).headers.get('link')!,
    )!
    assert.doesNotMatch(next!, /ffset/)
    const within = [
      'filter[offset]=2',
      'filter%5Boffset%5D=2',
      `filter[cursor]=${/cursor=([\w-]+)/.exec(next!)![1]}`,
    ]
    for (const start of within) {
      const { length } = await follow(service(), `/payouts?number=500&${start}`)
      assert.ok(length > 1290 && length < 1300, `${start}: ${length}`)
    }
    for (const number of [249, 250, 251, 1000, 1001, 1299, 1300, 100_001]) {
      assert.deepEqual(ids(await follow(service(), `/payouts?order=desc&number=${number}`)), all.toReversed())
    }
  })

  test('200 - the next page of an address that was not encoded', async () => {
    const path = '/v1/payouts?number=2&amount=0&amount_compare=>=&other="><a>;rel=\\"next'
    const headers = { authorization: `Bearer ${service().key.token}` }
    const sent = request(service().url, { path, headers }).end()
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    answer.resume()
    assert.match(
      String(answer.headers.link),
      /^<[^<>"\\]+&amount_compare=%3E=&other=%22%3E%3Ca%3E;rel=%5C%22next&cursor=[\w-]+>; rel="next"$/,
    )
  })
})
