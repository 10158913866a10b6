/** Visitors of a shop whose pages load the script, in a real browser, from the landing to the sale. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { DAY_SECONDS, now } from '../src/base/time.ts'
import { currentKey, rotateKeys } from '../src/programme/tracking/keys.ts'
import { newNonce, signClick } from '../src/programme/tracking/token.ts'
import { changeSettings } from '../src/settings/rules.ts'
import { eventually, launch, WAIT_MS } from './browser/world.ts'
import { operatorOf, type Service, startService } from './harness.ts'

describe('visitors in a browser', () => {
  let service: Service
  let shop: Server
  let browser: Browser
  let port: number
  let affiliate: { id: number }
  /** What forms have sent to the shop. */
  const orders: URLSearchParams[] = []

  const at = (host: string, path: string) => `http://${host}.test:${port}${path}`
  /** The shop whose own host the service answers on, below /go/. */
  const own = (path: string) => `http://shop.localhost:${port}${path}`
  const settings = (changes: object) => changeSettings(operatorOf(service.database), changes)
  const usual = () => ({ programme_page: at('shop', '/welcome'), allowed_hosts: [`pay.test:${port}`] })
  const ownHost = () => ({ programme_page: own('/'), allowed_hosts: ['*.shop.localhost'] })
  /** With other settings for as long as it takes. */
  async function withSettings(changes: object, steps: () => Promise<void>): Promise<void> {
    await settings(changes)
    await steps().finally(() => settings(usual()))
  }

  /** As many hosts as there are names, with pages that load the script. */
  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(incoming.url!, 'http://shop.test')
    if (pathname.startsWith('/go/')) return passOn(incoming, response)
    if (incoming.method === 'POST') orders.push(new URLSearchParams(await text(incoming)))
    const place = incoming.headers.host!.includes('localhost') ? '/go' : service.url
    const attributes = searchParams.has('wait') ? ' data-consent' : ''
    response.setHeader('Content-Type', 'text/html; charset=utf-8')
    const script = searchParams.has('imported')
      ? `<script type="module">import '${place}/a.js'</script>`
      : `<script async src="${place}/a.js"${attributes}></script>`
    if (searchParams.has('sandboxed')) response.setHeader('Content-Security-Policy', 'sandbox allow-scripts')
    response.end(`<!doctype html><title>Shop</title>
      <script>window.affiliated = window.affiliated || function () { (affiliated.q = affiliated.q || []).push(arguments) }</script>
      ${searchParams.has('clean') ? '<script>history.replaceState(null, "", location.pathname)</script>' : ''}
      ${script}${searchParams.has('twice') ? script : ''}
      <a id=next href="/next">Next</a>
      <a id=pay href="http://pay.test:${port}/pay?cart=7#top">Pay</a>
      <a id=evil href="http://evil.test:${port}/">Elsewhere</a>
      <form method=post action=/order><input type=hidden name=aff_click><input type=hidden name=aff_first><button>Buy</button></form>`)
  }

  /** As a proxy in front of the shop does. */
  function passOn(incoming: IncomingMessage, response: ServerResponse): void {
    const { method, headers, url } = incoming
    const target = `${service.url}${url!.slice('/go'.length)}`
    const passed = request(target, { method, headers }, answer => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    incoming.pipe(passed)
  }

  before(async () => {
    service = await startService()
    shop = createServer(answer).listen(0, '127.0.0.1')
    await once(shop, 'listening')
    ;({ port } = shop.address() as AddressInfo)
    browser = await launch('--host-resolver-rules=MAP *.test 127.0.0.1, MAP *.co.uk 127.0.0.1')
    await settings({ ...usual(), default_rate: 10 })
    affiliate = await service.newAffiliate('walker', { status: 'active', username: 'walker' })
  })
  after(async () => {
    await browser?.close()
    shop?.close()
    shop?.closeAllConnections()
    await service?.close()
  })

  /** A browser of its own, and what its script has asked of the service. */
  async function visit(
    steps: (page: Page, asked: string[]) => Promise<void>,
    options: BrowserContextOptions = {},
  ): Promise<void> {
    const context = await browser.newContext(options)
    const page = await context.newPage()
    page.setDefaultTimeout(WAIT_MS)
    const [asked, complaints]: [string[], string[]] = [[], []]
    page.on('request', request => {
      const { origin, pathname } = new URL(request.url())
      if (origin === service.url) asked.push(`${request.method()} ${pathname}`)
    })
    page.on('pageerror', error => complaints.push(String(error)))
    page.on('console', message => message.type() === 'error' && complaints.push(message.text()))
    try {
      await steps(page, asked)
      assert.deepEqual(
        complaints.filter(text => !text.includes('favicon') && !text.includes('404')),
        [],
      )
    } finally {
      await context.close()
    }
  }

  const token = (page: Page, which = 'last') => page.evaluate<string>(`affiliated('token', '${which}')`)
  const arrived = async (page: Page) => {
    await page.waitForFunction(`/^[A-Za-z0-9_-]{60,200}$/.test(affiliated('token') ?? '')`)
    return token(page)
  }
  /** Of the cookies there are. */
  const domains = async (page: Page) => (await page.context().cookies()).map(({ domain }) => domain)
  /** A sale that the shop's server reports. */
  async function sell(reference: string, click: { first?: string; last?: string }) {
    const sale = { kind: 'sale', context: 'shop', reference, amount: 100, click }
    const { status, body } = await service.post('/conversions', sale)
    assert.equal(status, 201, JSON.stringify(body))
    return body
  }

  test('landing by ?ref=, three pages, another domain by a link, a form, a sale - credited', () =>
    visit(async (page, asked) => {
      await page.goto(at('shop', '/?ref=walker&campaign=spring'))
      const clicked = await arrived(page)
      await page.click('#next')
      await page.waitForURL(/next/)
      assert.equal(await arrived(page), clicked)
      await page.reload()
      assert.equal(await arrived(page), clicked)
      await page.click('#pay')
      await page.waitForURL(/pay\.test/)
      assert.match(page.url(), /\/pay\?cart=7&aff_click=[\w-]+&aff_first=[\w-]+#top$/)
      assert.equal(await arrived(page), clicked)
      await page.click('button')
      await page.waitForURL(/order/)
      const sent = orders.at(-1)!
      assert.deepEqual([sent.get('aff_click'), sent.get('aff_first')], [clicked, clicked])
      const { referrals } = await sell('order 1', {
        first: sent.get('aff_first')!,
        last: sent.get('aff_click')!,
      })
      assert.deepEqual([referrals[0].affiliate_id, referrals[0].amount], [affiliate.id, '10.00'])
      // One beacon, however many pages.
      assert.deepEqual(
        asked.filter(request => request.startsWith('POST')),
        ['POST /a'],
      )
      await eventually(async () => {
        const { body } = await service.get(`/visits?affiliate_id=${affiliate.id}`)
        assert.deepEqual(
          [body.length, body[0].campaign, body[0].url],
          [1, 'spring', at('shop', '/?campaign=spring')],
        )
      })
    }))

  test('by another affiliate later - the first and the last click are both there', () =>
    visit(async page => {
      const other = await service.newAffiliate('other', { status: 'active' })
      await page.goto(at('shop', '/?ref=walker'))
      const first = await arrived(page)
      await page.goto(at('shop', `/shoes/ref/${other.id}/`))
      await page.waitForFunction(`(affiliated('token') || '${first}') !== '${first}'`)
      const last = await arrived(page)
      assert.notEqual(last, first)
      assert.deepEqual([await token(page, 'first'), await token(page)], [first, last])
      const { referrals } = await sell('order 2', { first, last })
      assert.equal(referrals[0].affiliate_id, other.id)
    }))

  /** A genuine token of a click that many days ago. */
  async function clickedBefore(days: number, affiliateId = affiliate.id): Promise<string> {
    const time = now() - days * DAY_SECONDS
    await rotateKeys(operatorOf(service.database))
    const key = await currentKey(service.database.reader)
    return signClick({ affiliateId, linkId: 0, campaign: '', time, nonce: newNonce(time) }, key!)
  }

  test('the page of an earlier click is opened again - the last click stays, and one that has expired is no first one', () =>
    visit(async page => {
      const [expired, earlier, later] = await Promise.all([40, 20, 1].map(days => clickedBefore(days)))
      const tokensAfter = async (token: string) => {
        await page.goto(at('shop', `/?aff_click=${token}`))
        return [await page.evaluate(`affiliated('token', 'first')`), await arrived(page)]
      }
      assert.deepEqual(await tokensAfter(expired!), [expired, expired])
      assert.deepEqual(await tokensAfter(earlier!), [earlier, earlier])
      assert.deepEqual(await tokensAfter(later!), [earlier, later])
      for (const token of [earlier!, expired!]) {
        assert.deepEqual(await tokensAfter(token), [earlier, later])
        await page.reload()
        assert.equal(await arrived(page), later)
      }
    }))

  test('a token of a time that is yet to come does not last', () =>
    visit(async page => {
      await page.goto(at('shop', `/?aff_click=${await clickedBefore(-300)}`))
      await arrived(page)
      const clicked = await clickedBefore(0)
      await page.goto(at('shop', `/?aff_click=${clicked}`))
      assert.equal(await arrived(page), clicked)
    }))

  test('what another page of the shop has done counts in pages that are open', () =>
    visit(async page => {
      const [earlier, later] = await Promise.all([20, 1].map(days => clickedBefore(days)))
      const sent = () => page.evaluate(`new FormData(document.forms[0]).get('aff_click')`)
      await page.goto(at('shop', `/?aff_click=${earlier}`))
      assert.equal(await arrived(page), earlier)
      const other = await page.context().newPage()
      await other.goto(at('shop', `/?aff_click=${later}`))
      assert.equal(await arrived(other), later)
      assert.deepEqual([await arrived(page), await sent()], [later, later])
      await other.evaluate(`affiliated('consent', false)`)
      assert.deepEqual([await sent(), await token(page)], ['', ''])
      await page.click('#pay')
      await page.waitForURL(/pay\.test/)
      assert.equal(page.url(), at('pay', '/pay?cart=7#top'))
    }))

  test('a login with a blank in the path, and links of all kinds', () =>
    visit(async page => {
      await service.newAffiliate('blank', { status: 'active', username: 'john döe' })
      await page.goto(at('shop', '/ref/john%20d%C3%B6e/'))
      const clicked = await arrived(page)
      const decorated = (html: string) =>
        page.evaluate(`(() => {
          document.body.insertAdjacentHTML('beforeend', ${JSON.stringify(html)})
          const link = document.body.lastElementChild
          link.addEventListener('click', event => event.preventDefault())
          const inner = link.firstElementChild ?? link
          for (const type of ['click', 'click']) inner.dispatchEvent(new MouseEvent(type, { bubbles: true, cancelable: true }))
          return link.href
        })()`)
      const pay = `http://pay.test:${port}/`
      assert.equal(
        await decorated(`<a href="${pay}?flag&q=a%20b&sig=~*(x)&aff_click=old#top">Pay</a>`),
        `${pay}?flag&q=a%20b&sig=~*(x)&aff_click=${clicked}&aff_first=${clicked}#top`,
      )
      assert.equal(
        await decorated(`<a href="${pay}">Pay</a>`),
        `${pay}?aff_click=${clicked}&aff_first=${clicked}`,
      )
      const area = `<map><area href="${pay}"></map>`
      await decorated(area)
      assert.equal(
        await page.evaluate(`document.querySelector('area').href`),
        `${pay}?aff_click=${clicked}&aff_first=${clicked}`,
      )
      const within = await page.evaluate(`(() => {
        const shadow = document.body.appendChild(document.createElement('div')).attachShadow({ mode: 'open' })
        shadow.innerHTML = '<a href="${pay}"><b>Pay</b></a>'
        shadow.addEventListener('click', event => event.preventDefault())
        shadow.querySelector('b').click()
        return shadow.querySelector('a').href
      })()`)
      assert.equal(within, `${pay}?aff_click=${clicked}&aff_first=${clicked}`)
      // It has no host, and is no error.
      await decorated(`<svg><a href="${pay}"><rect width="9" height="9"/></a></svg>`)
    }))

  test('without JavaScript, through the redirect - the token is in the address, and the sale is credited', () =>
    visit(
      async page => {
        await page.goto(`${service.url}/r/${affiliate.id}`)
        const url = new URL(page.url())
        assert.equal(url.host, `shop.test:${port}`)
        const { referrals } = await sell('order 3', { last: url.searchParams.get('aff_click')! })
        assert.equal(referrals[0].affiliate_id, affiliate.id)
      },
      { javaScriptEnabled: false },
    ))

  test('through the redirect with JavaScript - the token is kept, and nothing is asked', () =>
    visit(async (page, asked) => {
      await page.goto(`${service.url}/r/${affiliate.id}`)
      const clicked = await arrived(page)
      assert.equal(new URL(page.url()).searchParams.get('aff_click'), clicked)
      await page.click('#next')
      await page.waitForURL(/next/)
      assert.equal(await arrived(page), clicked)
      assert.ok(!asked.includes('POST /a'))
    }))

  test('consent is asked and not given - no request, no cookie, no storage; given - as otherwise; taken back - gone', () =>
    visit(async (page, asked) => {
      await page.goto(at('shop', '/?ref=walker&wait=1'), { waitUntil: 'networkidle' })
      const kept = () =>
        page.evaluate(`[document.cookie, localStorage.length, sessionStorage.length, affiliated('token')]`)
      assert.deepEqual(await kept(), ['', 0, 0, ''])
      assert.deepEqual(asked, ['GET /a.js'])
      await page.evaluate(`affiliated('consent')`)
      await arrived(page)
      assert.equal((await page.context().cookies()).length, 1)
      await page.evaluate(`affiliated('consent', false)`)
      assert.deepEqual(await kept(), ['', 0, 0, ''])
    }))

  test('consent is withdrawn on the host of the shop - no cookie, no token in forms, and none on the next page', () =>
    withSettings(ownHost(), () =>
      visit(async page => {
        await page.goto(own('/?ref=walker'))
        const clicked = await arrived(page)
        const sent = () =>
          page.evaluate(
            `[...new FormData(document.forms[0]).values(), ...[...document.forms[0]].map(field => field.value)]`,
          )
        assert.deepEqual(await sent(), [clicked, clicked, clicked, clicked, ''])
        await page.evaluate(`affiliated('consent', false)`)
        assert.deepEqual(await sent(), ['', '', '', '', ''])
        assert.deepEqual(await page.context().cookies(), [])
        await page.click('#next')
        await page.waitForURL(/next/)
        assert.equal(await token(page), '')
      }),
    ))

  test('consent is withdrawn before the service has answered - what it then sets is removed', () =>
    withSettings(ownHost(), () =>
      visit(async page => {
        const held = Promise.withResolvers<void>()
        await page.route(own('/go/a'), async route => {
          await held.promise
          await route.continue()
        })
        const [asked] = await Promise.all([page.waitForRequest(own('/go/a')), page.goto(own('/?ref=walker'))])
        await page.evaluate(`affiliated('consent', false)`)
        held.resolve()
        const answer = await asked.response()
        await answer!.finished()
        await page.waitForFunction(`document.cookie === ''`)
        assert.equal(await token(page), '')
      }),
    ))

  test('consent that the settings require is waited for by every page', async () => {
    await settings({ consent_required: true })
    try {
      await visit(async (page, asked) => {
        await page.goto(at('shop', '/?ref=walker'), { waitUntil: 'networkidle' })
        assert.deepEqual(await page.context().cookies(), [])
        assert.deepEqual(asked, ['GET /a.js'])
      })
    } finally {
      await settings({ consent_required: false })
    }
  })

  test('a wildcard with a port - the cookie is shared by all hosts below it', () =>
    withSettings({ allowed_hosts: [`*.store.test:${port}`] }, () =>
      visit(async page => {
        await page.goto(at('www.store', '/?ref=walker'))
        const clicked = await arrived(page)
        await page.goto(at('pay.store', '/'))
        assert.equal(await arrived(page), clicked)
        assert.deepEqual(await domains(page), ['.store.test'])
      }),
    ))

  test('on the host of the shop, below a wildcard - service and script have one cookie, with the last click', () =>
    withSettings(ownHost(), () =>
      visit(async page => {
        const other = await service.newAffiliate('guest', { status: 'active' })
        await page.goto(own('/?ref=walker'))
        const first = await arrived(page)
        await page.goto(own(`/go/r/${other.id}?to=/own`))
        const last = await arrived(page)
        assert.notEqual(last, first)
        await page.click('#next')
        await page.waitForURL(/next/)
        assert.deepEqual([await arrived(page), await token(page, 'first')], [last, first])
        assert.deepEqual(await domains(page), ['.shop.localhost'])
      }),
    ))

  test('through the redirect on the host of the shop - the service sets the cookie, and with the first click', () =>
    withSettings(ownHost(), () =>
      visit(async page => {
        await page.goto(own('/?ref=walker'))
        const first = await arrived(page)
        const [answer] = await Promise.all([
          page.waitForResponse(own('/go/a')),
          page.goto(own(`/go/r/${affiliate.id}?to=/own`)),
        ])
        const last = await arrived(page)
        assert.notEqual(last, first)
        assert.equal(
          await answer.headerValue('set-cookie'),
          `aff_click=${first}.${last}; Path=/; SameSite=Lax; Max-Age=2592000; Domain=shop.localhost`,
        )
        assert.deepEqual(await domains(page), ['.shop.localhost'])
      }),
    ))

  test('through the redirect on the host of the shop, consent is asked - no cookie before it is given', () =>
    withSettings(ownHost(), () =>
      visit(async page => {
        const landing = encodeURIComponent('/own?wait=1')
        await page.goto(own(`/go/r/${affiliate.id}?to=${landing}`), { waitUntil: 'networkidle' })
        assert.deepEqual(await page.context().cookies(), [])
        const [answer] = await Promise.all([
          page.waitForResponse(own('/go/a')),
          page.evaluate(`affiliated('consent')`),
        ])
        assert.match((await answer.headerValue('set-cookie'))!, new RegExp(await arrived(page)))
      }),
    ))

  test('the settings name a narrower host than when the cookie was stored - the later click replaces it, and consent removes it', () =>
    withSettings({ allowed_hosts: [`*.mall.test:${port}`] }, () =>
      visit(async page => {
        const other = await service.newAffiliate('narrower', { status: 'active' })
        // Nothing is cached where requests are passed on.
        await page.route('**/a.js', route => route.continue())
        await page.goto(at('a.mall', '/?ref=walker'))
        const first = await arrived(page)
        assert.deepEqual(await domains(page), ['.mall.test'])
        await settings({ allowed_hosts: [`a.mall.test:${port}`] })
        await page.goto(at('a.mall', `/?ref=${other.id}`))
        await page.waitForFunction(`(affiliated('token') || '${first}') !== '${first}'`)
        assert.deepEqual(await domains(page), ['a.mall.test'])
        await settings({ allowed_hosts: [`*.mall.test:${port}`] })
        await page.goto(at('a.mall', `/?aff_click=${await clickedBefore(0)}`))
        await settings({ allowed_hosts: [`a.mall.test:${port}`] })
        await page.reload()
        await arrived(page)
        await page.evaluate(`affiliated('consent', false)`)
        assert.deepEqual(await domains(page), [])
      }),
    ))

  test('below a wildcard that browsers share no cookie under - each host has its own', () =>
    withSettings({ allowed_hosts: [`*.co.uk:${port}`] }, () =>
      visit(async page => {
        await page.goto(`http://shop.co.uk:${port}/?ref=walker`)
        const clicked = await arrived(page)
        await page.click('#next')
        await page.waitForURL(/next/)
        assert.equal(await arrived(page), clicked)
        assert.deepEqual(await domains(page), ['shop.co.uk'])
      }),
    ))

  test('a page that cleans its address at once, and one that has the script twice - one visit each', () =>
    visit(async (page, asked) => {
      for (const how of ['clean', 'twice']) {
        await page.context().clearCookies()
        asked.length = 0
        await page.goto(at('shop', `/?ref=walker&campaign=${how}&${how}=1`), { waitUntil: 'networkidle' })
        await arrived(page)
        assert.deepEqual(
          asked.filter(request => request.startsWith('POST')),
          ['POST /a'],
          how,
        )
        await eventually(async () =>
          assert.equal((await service.get(`/visits?campaign=${how}`)).body.length, 1),
        )
      }
    }))

  test('rendered in advance - nothing is asked or stored until the page is shown, then all as otherwise', () =>
    visit(async (page, asked) => {
      await page.addInitScript(`
        let isHidden = true
        Object.defineProperty(document, 'prerendering', { get: () => isHidden })
        window.show = () => {
          isHidden = false
          document.dispatchEvent(new Event('prerenderingchange'))
        }`)
      const beacons = () => asked.filter(request => request.startsWith('POST'))
      const render = async (how: string) => {
        await page.context().clearCookies()
        asked.length = 0
        await page.goto(at('shop', `/?ref=walker&${how}`), { waitUntil: 'networkidle' })
        assert.deepEqual([beacons(), await page.context().cookies()], [[], []])
      }
      for (const how of ['once=1', 'twice=1']) {
        await render(how)
        await page.evaluate('show()')
        const clicked = await arrived(page)
        assert.equal(await page.inputValue('input[name=aff_click]'), clicked)
        assert.deepEqual(beacons(), ['POST /a'], how)
      }
      // What the page has said meanwhile counts.
      await render('refused=1')
      await page.evaluate(`affiliated('consent', false); show()`)
      await page.waitForLoadState('networkidle')
      assert.deepEqual([await token(page), await page.context().cookies()], ['', []])
    }))

  test('a cookie of this name that holds no tokens - the click is kept in its place', () =>
    visit(async page => {
      const url = at('shop', '/')
      await page.context().addCookies([{ name: 'aff_click', value: '123456789.123456789', url }])
      await page.goto(at('shop', '/?ref=walker'))
      const clicked = await arrived(page)
      assert.deepEqual([await token(page, 'first'), await token(page)], [clicked, clicked])
    }))

  test('within a program of the page, without an element of its own - no error', () =>
    visit(async page => {
      await page.goto(at('shop', '/?imported=1&ref=walker'), { waitUntil: 'networkidle' })
      assert.equal(await token(page), '')
    }))

  test('an address that cannot be read - fields are filled all the same', () =>
    visit(async page => {
      await page.goto(at('shop', '/?ref=walker'))
      const clicked = await arrived(page)
      await page.goto(at('shop', '/ref/%zz'), { waitUntil: 'networkidle' })
      assert.equal(await page.inputValue('input[name=aff_click]'), clicked)
    }))

  test('consent is withdrawn on another page - the fields are empty when this one is used again', () =>
    visit(async page => {
      await page.goto(at('shop', '/?ref=walker'))
      const clicked = await arrived(page)
      assert.equal(await page.inputValue('input[name=aff_click]'), clicked)
      const other = await page.context().newPage()
      await other.goto(at('shop', '/'))
      await arrived(other)
      await other.evaluate(`affiliated('consent', false)`)
      // A headless browser gives no page the focus of a window.
      await page.evaluate(`dispatchEvent(new Event('focus'))`)
      assert.equal(await page.inputValue('input[name=aff_click]'), '')
    }))

  test('storage is blocked - no error', () =>
    visit(async page => {
      await page.goto(at('shop', '/?ref=walker&sandboxed=1'), { waitUntil: 'networkidle' })
      assert.equal(await page.evaluate('window.origin'), 'null')
      assert.equal(typeof (await token(page)), 'string')
    }))

  test('links to anybody else stay as they are', () =>
    visit(async page => {
      await page.goto(at('shop', '/?ref=walker'))
      await arrived(page)
      await page.click('#evil')
      await page.waitForURL(/evil\.test/)
      assert.equal(page.url(), at('evil', '/'))
    }))
})
