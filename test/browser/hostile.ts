import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { goTo, settled } from './pages.ts'
import { eventually, go, World } from './world.ts'

/** Texts that would run, load, compute, hide or break something if they were taken for anything but text. */
const TEXTS = [
  '<script>window.__ran=1</script>',
  '<SCRIPT SRC=//evil.example/x.js></SCRIPT>',
  '</script><script>window.__ran=2</script>',
  '</title><script>window.__ran=3</script>',
  '</textarea><script>window.__ran=4</script>',
  '<scr<script>ipt>window.__ran=5</scr</script>ipt>',
  '<script type=module>window.__ran=6</script>',
  '<img src=x onerror=window.__ran=7>',
  '"><img src=x onerror="window.__ran=8">',
  "'><img src=x onerror='window.__ran=9'>",
  '<img src=x:x onerror =window.__ran=10>',
  '<body onload=window.__ran=11>',
  '<input autofocus onfocus=window.__ran=12>',
  '<select autofocus onfocus=window.__ran=13>',
  '<details open ontoggle=window.__ran=14>x</details>',
  '<video><source onerror=window.__ran=15></video>',
  '<marquee onstart=window.__ran=16>x</marquee>',
  '" onmouseover="window.__ran=17" x="',
  "' onfocus='window.__ran=18' autofocus='",
  '` onerror=`window.__ran=19`',
  '<svg onload=window.__ran=20>',
  '<svg><script>window.__ran=21</script></svg>',
  '<svg><animate onbegin=window.__ran=22 attributeName=x dur=1s>',
  '<svg><a xlink:href="javascript:window.__ran=23"><text y=9>x</text></a></svg>',
  '<math><mtext><style><img src=x onerror=window.__ran=24></style></mtext></math>',
  '<a href="javascript:window.__ran=25">click</a>',
  'javascript:window.__ran=26',
  'JaVaScRiPt://%0awindow.__ran=27',
  'java&#09;script:window.__ran=28',
  'data:text/html;base64,PHNjcmlwdD53aW5kb3cuX19yYW49Mjk8L3NjcmlwdD4=',
  '<iframe srcdoc="<script>parent.__ran=30</script>"></iframe>',
  '<iframe src="javascript:parent.__ran=31">',
  '<object data="javascript:window.__ran=32">',
  '<embed src="javascript:window.__ran=33">',
  '<form action="javascript:window.__ran=34"><button autofocus>x',
  '<meta http-equiv=refresh content="0;url=javascript:window.__ran=35">',
  '<base href="//evil.example/">',
  '<link rel=stylesheet href=//evil.example/x.css>',
  '<style>*{background:url(//evil.example/x)}</style>',
  '<p style="position:fixed;inset:0;background:url(//evil.example/y)">',
  '{{constructor.constructor("window.__ran=41")()}}',
  `\${window.__ran=42}`,
  '<%= window.__ran=43 %>',
  '#{window.__ran=44} %{window.__ran=44}',
  '__proto__[__ran]=45',
  '%3Cscript%3Ewindow.__ran=46%3C/script%3E',
  '&lt;script&gt;window.__ran=47&lt;/script&gt;',
  '\\u003cscript\\u003ewindow.__ran=48\\u003c/script\\u003e',
  '\uff1cscript\uff1ewindow.__ran=49\uff1c/script\uff1e',
  '\u200f<script>window.__ran=50</script>\u200e',
  'z\u0335\u0336\u0337\u0338a\u0335\u0336\u0337\u0338l\u0335\u0336\u0337g\u0335\u0336\u0337o',
  '\u200b\u2060in\ufeffvisible\u00ad',
  'مرحبا شركة',
  '👩‍👩‍👧‍👦 family 🏳️‍🌈',
  'O\'Hara "quoted" & co; DROP TABLE users;--',
  '=1+1',
  '=HYPERLINK("http://evil.example";"click")',
  "+1-1+cmd|' /C calc'!A0",
  '-2+3',
  '@SUM(1+1)',
  '../../../../etc/passwd',
  'null',
  '[object Object]',
  'ra.action.delete',
]

/** The name of a rate type has no comma. */
const RATE_TYPES = TEXTS.filter(text => !text.includes(','))
const PAGE_SIZE = 500
const NAME_LENGTH = 250
const METHOD_LENGTH = 100

/** What an address can have of a text. */
const addressOf = (text: string, index: number) =>
  `${text.replace(/[^\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]/gu, '').slice(0, 40)}${index}@example.org`

/** As few texts as hold all of these, none longer than a field takes. */
function joined(texts: readonly string[], length: number): string[] {
  const all: string[] = []
  for (const text of texts) {
    const last = all.at(-1)
    if (last !== undefined && [...`${last} ${text}`].length <= length) all[all.length - 1] = `${last} ${text}`
    else all.push(text)
  }
  return all
}

export function hostileScenarios(): void {
  test(`${TEXTS.length} hostile texts in every field - shown as text on every page, and none runs`, async () => {
    assert.equal(new Set(TEXTS).size, TEXTS.length)
    const world = await World.start()
    try {
      await world.work('/affiliates', async page => {
        const ran = await watched(page)
        const administrator = await world.administrator()
        const send = async (method: string, path: string, data: object, status: number) => {
          const { status: answered, body } = await administrator.send(method, path, { body: data })
          assert.equal(answered, status, `${method} ${path} ${JSON.stringify(body)}`)
          return body
        }
        const rate_types = ['percentage', ...RATE_TYPES]
        await send('PATCH', '/settings', { rate_types, default_rate_type: RATE_TYPES[0] }, 200)
        const makeAffiliate = async (text: string, login: string, email: string, rate_type: string) => {
          const names = { first_name: text, last_name: text, display_name: text }
          const user = await send('POST', '/users', { login, email, ...names }, 201)
          const affiliate = { user_id: user.id, payment_email: email, rate_type, notes: `${text}\n${text}` }
          const { affiliate_id } = await send('POST', '/affiliates', affiliate, 201)
          return { user: user.id as number, affiliate: affiliate_id as number }
        }
        const makePayout = async (text: string, affiliate_id: number, amount: number) => {
          const { payout_id } = await send(
            'POST',
            '/payouts',
            { affiliate_id, amount, payout_method: text },
            201,
          )
          return payout_id as number
        }
        for (const [index, text] of TEXTS.entries()) {
          const email = addressOf(text, index)
          const { user, affiliate } = await makeAffiliate(
            text,
            `hostile${index}`,
            email,
            RATE_TYPES[index] ?? '',
          )
          await makePayout(text, affiliate, 100 - index)
          const key = { user_id: user, name: text, permissions: ['payouts.read'] }
          await send('POST', '/keys', key, 201)
          // What a name to log in by cannot have is refused, and the refusal says nothing that could run.
          if (/[^\p{L}\p{M}\p{N} _.@-]/u.test(text)) {
            await send('POST', '/users', { login: text, email: `x${email}` }, 400)
          }
        }
        const settings = { default_rate_type: 'percentage' }
        await send('PATCH', '/settings', settings, 200)

        const all = `?page=1&perPage=${PAGE_SIZE}`
        for (const path of ['/affiliates', '/payouts', '/users', '/tools/api-keys', '/tools/audit-log']) {
          await go(page, path + all)
          await assertShown(page, path, TEXTS)
        }
        await go(page, '/settings')
        await assertShown(page, '/settings', RATE_TYPES)
        for (const path of ['/reports', '/tools/export', '/tools/system', '/account', '/affiliates/create']) {
          await goTo(page, path)
        }
        // To open a page takes longer than to read all that it holds: of one record, each field has as many as it takes.
        const names = joined(TEXTS, NAME_LENGTH)
        const affiliates: number[] = []
        for (const [index, text] of names.entries()) {
          const email = `joined${index}@example.org`
          const { user, affiliate } = await makeAffiliate(text, `joined${index}`, email, RATE_TYPES[index]!)
          affiliates.push(affiliate)
          for (const path of [
            `/affiliates/${affiliate}/show`,
            `/affiliates/${affiliate}`,
            `/users/${user}`,
          ]) {
            await go(page, path)
            await assertShown(page, path, [text])
          }
        }
        for (const [index, text] of joined(TEXTS, METHOD_LENGTH).entries()) {
          const affiliate = affiliates[index % affiliates.length]!
          const path = `/payouts/${await makePayout(text, affiliate, 1 + index)}`
          await go(page, path)
          await assertShown(page, path, [text, names[index % names.length]!])
        }
        for (const path of ['/affiliates', '/payouts', '/users']) {
          await goTo(page, path)
          await page.getByRole('button', { name: 'Filters' }).or(page.getByLabel('Search')).first().waitFor()
          for (const text of TEXTS) await page.getByLabel('Search').fill(text)
          await settled(page)
        }
        await page.goto('/admin/login')
        await page.context().clearCookies()
        await page.reload()
        for (const text of TEXTS) await page.getByLabel('Login').fill(text)
        await page.getByLabel('Password', { exact: true }).fill(TEXTS[0]!)
        await page.getByRole('button', { name: 'Log in' }).click()
        await page.getByRole('alert').waitFor()
        // The last is our own: whatever runs is seen.
        await page.evaluate('window.__ran = 0')
        assert.deepEqual(await ran(), ['ran 0'])
      })
    } finally {
      await world.close()
    }
  })
}

/** @returns asks what has run, tried to run, or opened a dialog since, on any page */
async function watched(page: Page): Promise<() => Promise<unknown[]>> {
  const seen: unknown[] = []
  page.on('dialog', async dialog => {
    seen.push(dialog.message())
    await dialog.dismiss()
  })
  await page.exposeFunction('__seen', (what: unknown) => {
    seen.push(what)
  })
  await page.addInitScript(`
    Object.defineProperty(window, '__ran', { set: what => window.__seen('ran ' + what) })
    addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      window.__seen(violatedDirective + ' ' + blockedURI))`)
  return async () => {
    // What was seen is told by messages, and those are behind this one.
    await page.evaluate('0')
    return seen
  }
}

/** Waits until each text stands on the page as it was written: in the page's text, or in a field. */
async function assertShown(page: Page, path: string, texts: readonly string[]): Promise<void> {
  await eventually(async () => {
    const shown = await page.evaluate<string>(`[
      document.querySelector('main')?.textContent,
      ...Array.from(document.querySelectorAll('main input, main textarea'), field => field.value),
    ].join('\\n')`)
    const absent = texts.filter(text => !shown.includes(text))
    assert.deepEqual(absent, [], path)
  })
}
