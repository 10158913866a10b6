import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import axe from 'axe-core'
import type { Page, Response } from 'playwright-core'
import { addresses, lists } from './addresses.ts'
import { eventually, go, World } from './world.ts'

const LISTS = [...lists, '/tools/api-keys', '/tools/audit-log']
const WIDTHS = [768, 900, 1024, 1280]
const SIZE = { width: 1280, height: 900 }
const PHONE = { width: 360, height: 740 }
const SMALLEST = { width: 320, height: 640 }

const MAX_SCRIPT_BYTES = 400 * 1024

/** What is wrong with the pages. */
interface Faults {
  readonly light: string[]
  readonly dark: string[]
  readonly lists: Record<number, { path: string; outside: string[] }[]>
  /** Requests of pages that were refused. */
  readonly refused: string[]
}

export function pageScenarios(world: () => World): void {
  describe('every page', () => {
    let walk: Promise<Faults> | undefined
    const faults = () => {
      walk ??= walkThrough(world())
      return walk
    }

    for (const colorScheme of ['light', 'dark'] as const)
      test(`${colorScheme} - axe finds no serious fault, and nothing is wider than a phone`, async () => {
        assert.deepEqual((await faults())[colorScheme], [])
      })

    test('asks for nothing that is refused', async () => {
      assert.deepEqual((await faults()).refused, [])
    })

    test('320 pixels wide - the amounts of the latest, each permission of a key, and the last of the tools are in their boxes', () =>
      world().work(
        '/affiliates/1/show',
        async page => {
          const isWithin = async (box: string) => {
            await page.locator(box).waitFor()
            const beyond = await page.evaluate<number>(`(() => {
              const box = document.querySelector(${JSON.stringify(box)})
              return box.scrollWidth - box.clientWidth
            })()`)
            assert.ok(beyond <= 0, `${box}: ${beyond} pixels more`)
          }
          await settled(page)
          for (const kind of ['payouts', 'referrals']) await isWithin(`[aria-label="Latest ${kind}"]`)
          await goTo(page, '/tools/api-keys')
          const last = page.getByRole('tab', { name: 'System' })
          await last.scrollIntoViewIfNeeded()
          const { x, width } = (await last.boundingBox())!
          assert.ok(x + width <= SMALLEST.width, `${x} ${width}`)
          await page.getByRole('button', { name: 'Generate API key' }).click()
          await page.getByRole('checkbox').first().waitFor()
          await isWithin('[role=dialog] .MuiTableContainer-root')
        },
        SMALLEST,
      ))

    test('360 pixels wide - the menu opens, and filters narrow a list', () =>
      world().work(
        '/affiliates',
        async page => {
          await settled(page)
          await page.getByRole('button', { name: 'Menu' }).click()
          await page.getByRole('link', { name: 'Payouts' }).click()
          await page.getByRole('heading', { level: 1, name: 'Payouts' }).waitFor()
          await page.getByRole('button', { name: 'Filters' }).click()
          await page.getByLabel('Method').fill('paypal')
          await page.getByText(/^1-25 of/).waitFor()
        },
        PHONE,
      ))

    test('360 pixels wide - the first key press shows the words that lead past the menu', () =>
      world().work(
        '/referrals',
        async page => {
          await settled(page)
          await page.keyboard.press('Tab')
          const skip = page.getByRole('button', { name: 'Skip to content' }).and(page.locator(':focus'))
          assert.equal(await skip.innerText(), 'Skip to content')
          const { x, y, width } = (await skip.boundingBox())!
          assert.ok(x >= 0 && y >= 0 && width > 100, `${x} ${y} ${width}`)
          await page.keyboard.press('Enter')
          await page.keyboard.press('Tab')
          await page.getByRole('main').getByRole('link').first().and(page.locator(':focus')).waitFor()
        },
        PHONE,
      ))

    test('a page that was read before - starts at its top, and the list is where it was left', () =>
      world().work(
        '/affiliates',
        async page => {
          await settled(page)
          const top = () => page.evaluate<number>('Math.round(scrollY)')
          const row = page.getByRole('main').getByRole('listitem').getByRole('link').nth(20)
          for (const visit of ['first', 'second']) {
            await row.focus()
            const before = await top()
            assert.ok(before > 1000, `${before}`)
            await page.keyboard.press('Enter')
            await page
              .getByRole('heading', { level: 1 })
              .and(page.locator(':not(:text("Affiliates"))'))
              .waitFor()
            await settled(page)
            assert.equal(await top(), 0, visit)
            await page.goBack()
            await page.getByRole('heading', { level: 1, name: 'Affiliates' }).waitFor()
            await settled(page)
            await eventually(async () => assert.equal(await top(), before, visit))
          }
        },
        PHONE,
      ))

    test('360 pixels wide, keyboard - what has the focus is not below the bars, forwards and backwards', () =>
      world().work(
        '/referrals',
        async page => {
          await settled(page)
          const hidden = async (key: string) => {
            const found: string[] = []
            for (let stop = 0; stop < 30; stop += 1) {
              await page.keyboard.press(key)
              const name = await page.evaluate<string>(`(() => {
                const element = document.activeElement
                if (!element.closest('main') || element.closest('[aria-label=Chosen]')) return ''
                const { left, right, top, bottom } = element.getBoundingClientRect()
                const isSeen = [top + 2, (top + bottom) / 2, bottom - 2].every(y =>
                  document.elementFromPoint((left + right) / 2, y)?.closest('main > *, header, [aria-label=Chosen]')?.matches('main > *'))
                return isSeen ? '' : element.outerHTML.slice(0, 120)
              })()`)
              if (name) found.push(name)
            }
            return found
          }
          await page
            .getByRole('checkbox', { name: /^Choose Referral/ })
            .first()
            .press('Space')
          await page.getByRole('region', { name: 'Chosen' }).waitFor()
          assert.deepEqual(await hidden('Tab'), [])
          assert.deepEqual(await hidden('Shift+Tab'), [])
        },
        PHONE,
      ))

    for (const width of WIDTHS)
      test(`${width} pixels wide - every list is in its box, and no address of the demo takes two lines`, async () => {
        const boxes = (await faults()).lists[width]!
        assert.equal(boxes.length, LISTS.length)
        for (const { path, outside } of boxes) assert.deepEqual(outside, [], path)
      })

    test('forms of any width - no label is cut', () =>
      world().work('/settings', async page => {
        for (const path of ['/settings', '/rules/create']) {
          await goTo(page, path)
          for (const width of [600, ...WIDTHS, 1200]) {
            await page.setViewportSize({ ...SIZE, width })
            await settled(page)
            const cut = await page.evaluate(
              "[...document.querySelectorAll('main label')].filter(it => it.scrollWidth > it.clientWidth).map(it => it.textContent)",
            )
            assert.deepEqual(cut, [], `${path}, ${width} pixels`)
          }
        }
      }))

    test('record that is not there - the page says so, and leads back to the list', () =>
      world().work('/affiliates/9999/show', async page => {
        for (const [path, name] of [
          ['/affiliates/9999/show', 'affiliate 9999'],
          ['/affiliates/9999', 'affiliate 9999'],
          ['/payouts/99999', 'payout 99999'],
          ['/users/9999', 'account 9999'],
        ]) {
          await goTo(page, path!)
          await page.getByText(`There is no ${name}`).waitFor()
          await page.getByText('It may have been deleted.').waitFor()
        }
        await page.getByRole('link', { name: 'All accounts' }).click()
        await page.getByRole('heading', { level: 1, name: 'Accounts' }).waitFor()
        assert.equal(await page.getByText('Element does not exist').count(), 0)
      }))

    test('keyboard alone - from the first key press to another page', () =>
      world().work('/affiliates', async page => {
        await settled(page)
        await page.keyboard.press('Tab')
        assert.equal(await page.evaluate('document.activeElement.textContent'), 'Skip to content')
        await page.getByRole('link', { name: 'Payouts' }).focus()
        await page.keyboard.press('Enter')
        await page.getByRole('heading', { level: 1, name: 'Payouts' }).waitFor()
        await page.getByRole('link', { name: 'Record payout' }).focus()
        await page.keyboard.press('Enter')
        await page.getByRole('heading', { level: 1, name: 'Record payout' }).waitFor()
        await page.getByRole('combobox', { name: 'Affiliate' }).focus()
        await page.keyboard.type('1')
        await page.getByRole('option').first().waitFor()
        await page.keyboard.press('ArrowDown')
        await page.keyboard.press('Enter')
        await page.keyboard.press('Tab')
        await page
          .getByLabel(/^Amount/)
          .and(page.locator('[name=amount]'))
          .focus()
        await page.keyboard.type('5.25')
        await page.keyboard.press('Enter')
        await page.getByText(/Payout \d+ recorded/).waitFor()
      }))

    test('keyboard - what has the focus shows it, on every stop of a page', () =>
      world().work('/payouts', async page => {
        for (const path of ['/payouts', '/affiliates/1/show', '/tools/api-keys']) {
          await page.goto(`/admin${path}`)
          await settled(page)
          const unseen = new Set<string>()
          for (let stop = 0; stop < 45; stop += 1) {
            await page.keyboard.press('Tab')
            const name = await page.evaluate<string>(`(() => {
              const element = document.activeElement
              const field = element.closest('.MuiInputBase-root')
              const isSeen = field
                ? field.matches('.Mui-focused')
                : [element, element.parentElement].some(part => {
                    const { outlineStyle, outlineWidth } = getComputedStyle(part)
                    return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2
                  })
              return isSeen || element === document.body ? '' : element.outerHTML.slice(0, 120)
            })()`)
            if (name) unseen.add(name)
          }
          assert.deepEqual([...unseen], [], path)
        }
      }))

    test('old tab - loads itself anew when a part is gone, and says so when nothing answers', () =>
      world().work('/affiliates', async page => {
        await settled(page)
        const parts = /\/_built\/(?:Reports|PayoutList|report)-[^/]*\.js/
        let missing = 0
        await page.route(parts, async route => {
          missing += 1
          await route.fulfill({ status: 404, body: '' })
        })
        await page.evaluate('window.isOld = true')
        const reloaded = page.waitForEvent('load')
        await page.getByRole('link', { name: 'Payouts', exact: true }).click()
        await reloaded
        assert.ok(missing > 0)
        // It is not there after that either: it is said, instead of loading for ever.
        await page.getByText('A part of this page could not be loaded.').waitFor()
        assert.equal(await page.evaluate('window.isOld'), undefined)
        await page.unroute(parts)
        await page.getByRole('button', { name: 'Try again' }).click()
        await page.getByRole('heading', { level: 1, name: 'Payouts' }).waitFor()

        await page.evaluate('sessionStorage.clear()')
        await page.route(/./, route => route.abort('connectionrefused'))
        await page.getByRole('link', { name: 'Reports', exact: true }).click()
        await page.getByText('The server does not answer.').waitFor()
        await page.unroute(/./)
        await page.getByRole('button', { name: 'Try again' }).click()
        await page.getByRole('heading', { level: 1, name: 'Reports' }).waitFor()
      }))

    test('order that there is not - the list has its own', () =>
      world().work('/payouts?sort=colour&order=SIDEWAYS&filter={"status":"failed"}', async page => {
        await page.getByText(/^1-\d+ of/).waitFor()
        assert.doesNotMatch(page.url(), /colour|SIDEWAYS/)
        assert.match(decodeURIComponent(page.url()), /"status":"failed"/)
      }))

    test('elsewhere - figures and times as they are written there, with the local time beside UTC', () =>
      world().work(
        '/tools/system',
        async page => {
          const since = await page.getByText(/^since/).innerText()
          assert.match(since, /\d\d\.\d\d\.\d{4}, \d\d:\d\d UTC \(.*\d\d:\d\d here\)$/)
          await goTo(page, '/payouts')
          await page
            .locator('dd')
            .nth(1)
            .filter({ hasText: /\d,\d\d.\$/ })
            .waitFor()
          await goTo(page, '/reports')
          await page.getByText(/^\d+,\d+%$/).waitFor()
        },
        { locale: 'de-DE', timezoneId: 'Asia/Tokyo' },
      ))

    test('tools - each tab has a title of its own', () =>
      world().work('/tools/api-keys', async page => {
        for (const name of ['Audit log', 'Export', 'System']) {
          await page.getByRole('tab', { name }).click()
          await eventually(async () => assert.equal(await page.title(), `${name} · Tools · affiliated`))
        }
      }))

    test('a status, and a page chosen right behind it', () =>
      world().work('/affiliates', async page => {
        await page.getByRole('button', { name: 'Go to page 2' }).waitFor()
        await page
          .getByRole('group', { name: 'Status' })
          .getByRole('button', { name: /^Active/ })
          .click()
        await page.getByRole('button', { name: 'Go to page 2' }).click()
        await page.waitForURL(/status%22%3A%22active.*page=2/)
      }))

    test('slow network - the rows of the filter before are dimmed until those of the new one are there', () =>
      world().work('/referrals', async page => {
        await page.getByText(/^1-25 of/).waitFor()
        const answer = Promise.withResolvers<void>()
        await page.route(/referrals\?.*status=draft/, async route => {
          await answer.promise
          await route.continue()
        })
        await page.getByRole('button', { name: /^Draft/ }).click()
        await page.locator('[aria-busy=true] tbody').waitFor()
        answer.resolve()
        await settled(page)
      }))

    test('slow network - a line says that something is coming', () =>
      world().work('/reports', async page => {
        await settled(page)
        await page.route('**/admin/api/affiliates?**', async route => {
          await new Promise(resolve => setTimeout(resolve, 2500))
          await route.continue()
        })
        await page.getByRole('link', { name: 'Affiliates', exact: true }).click()
        await page.getByRole('progressbar', { name: 'Loading' }).waitFor()
        assert.ok(await page.getByLabel('Choose all on this page').isDisabled())
        await page.getByText(/^1-25 of/).waitFor()
        await page.getByRole('progressbar').waitFor({ state: 'hidden' })
      }))

    test('system without a network - the service, which may be on the same machine, is asked nevertheless', () =>
      world().work('/affiliates/7/show', async page => {
        await page.evaluate("dispatchEvent(new Event('offline'))")
        await page.getByRole('link', { name: 'Edit', exact: true }).click()
        await page.getByLabel('Notes').pressSequentially('Called by telephone.')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText('Affiliate saved').waitFor()
      }))

    test('network away and back - a list stays, says so, and is read again', () =>
      world().work('/payouts', async page => {
        await page.getByText(/^1-25 of/).waitFor()
        const rows = page.getByRole('table', { name: 'Payouts' }).getByRole('row')
        const problem = page.getByText('No answer came from the server').first()
        const reconnect = () =>
          page.evaluate("dispatchEvent(new Event('offline')); dispatchEvent(new Event('online'))")
        await page.route('**/admin/api/**', route => route.abort())
        await eventually(async () => {
          await reconnect()
          assert.ok(await problem.isVisible())
        })
        assert.equal(await rows.count(), 26)
        await page.unrouteAll()
        await eventually(async () => {
          await reconnect()
          assert.equal(await problem.isVisible(), false)
        })
      }))

    test('copy buttons - an e-mail address and a key are in the clipboard', () =>
      world().work('/affiliates/1/show', async page => {
        await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
        await page.getByRole('button', { name: 'Copy account e-mail' }).click()
        await page.getByRole('button', { name: 'Copied account e-mail' }).waitFor()
        const { user } = await world().read('/affiliates/1?user=1')
        assert.equal(await page.evaluate('navigator.clipboard.readText()'), user.user_email)
        await goTo(page, '/tools/api-keys')
        await page
          .getByRole('button', { name: /^Copy public key/ })
          .first()
          .click()
        await page.getByRole('button', { name: /^Copied public key/ }).waitFor()
        assert.notEqual(await page.evaluate('navigator.clipboard.readText()'), user.user_email)
      }))

    test('print - what was asked for, without the menu and the buttons', () =>
      world().work('/payouts', async page => {
        await settled(page)
        await page.emulateMedia({ media: 'print' })
        assert.equal(await page.getByRole('link', { name: 'Reports' }).isVisible(), false)
        assert.equal(await page.getByRole('link', { name: 'Export CSV' }).isVisible(), false)
        assert.equal(await page.getByRole('table', { name: 'Payouts' }).isVisible(), true)
      }))

    test('printed numbers of a report - all of them, and nothing over them', () =>
      world().work('/reports', async page => {
        await page.getByRole('button', { name: 'Show numbers of Earned, paid, rejected' }).click()
        const numbers = page.getByRole('region', { name: 'Numbers of Earned, paid, rejected' })
        const hidden = () => numbers.evaluate(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)
        await eventually(async () => assert.ok((await hidden()) > 0))
        await page.emulateMedia({ media: 'print' })
        assert.equal(await hidden(), 0)
      }))

    test('look - follows the system until one is chosen, which is kept', () =>
      world().work(
        '/affiliates',
        async page => {
          const choose = async (look: string) => {
            await page.getByRole('button', { name: /^Account of/ }).click()
            await page.getByRole('menuitemradio', { name: look }).click()
          }
          const assertLook = (look: string) =>
            eventually(async () => {
              assert.equal(
                await page.evaluate('getComputedStyle(document.documentElement).colorScheme'),
                look,
              )
            })
          await page.locator('h1').waitFor()
          await assertLook('dark')
          await choose('Light')
          await assertLook('light')
          await page.reload()
          await page.locator('h1').waitFor()
          await assertLook('light')
          await choose('Like the system')
          await assertLook('dark')
        },
        { colorScheme: 'dark' },
      ))

    test('fresh database - empty lists say what to do next, and the currency decides the decimals', async () => {
      const fresh = await World.start()
      try {
        await fresh.work('/', async page => {
          await page
            .getByText('all amounts are in USD, and the first one that is recorded fixes that')
            .waitFor()
          await goTo(page, '/affiliates')
          await page.getByText('No affiliates yet').waitFor()
          await goTo(page, '/payouts')
          await page.getByText('No payouts yet').waitFor()
          await goTo(page, '/reports')
          await page.getByText('Nothing in this period').first().waitFor()
          await page.getByRole('button', { name: 'All', exact: true }).click()
          await page.getByText('Nothing to show yet').first().waitFor()

          await goTo(page, '/settings')
          await page.getByRole('combobox', { name: 'Currency' }).fill('KWD')
          await page.getByRole('option', { name: /^KWD/ }).waitFor()
          await page.getByRole('combobox', { name: 'Currency' }).press('Enter')
          await page.getByRole('button', { name: 'Save' }).click()
          await page.getByText('Settings saved').waitFor()
          await fresh.make('/affiliates', { create_user: true, payment_email: 'dinar@example.com' })
          await goTo(page, '/payouts/create')
          await page.getByRole('combobox', { name: 'Affiliate' }).fill('dinar')
          await page.getByRole('option', { name: /dinar/ }).click()
          await page.locator('[name=amount]').fill('1234.567')
          await page.getByRole('button', { name: 'Save' }).click()
          await page.getByRole('cell', { name: /KWD.1,234\.567/ }).waitFor()
          await page.goto('/admin/settings')
          await page.getByText('The currency cannot change any more').waitFor()
          await page.goto('/admin/')
          await page.getByText('Owed now').waitFor()
          assert.equal(await page.getByText('Before you begin').count(), 0)
        })
      } finally {
        await fresh.close()
      }
    })

    test('first view - less than 400 KiB of script, compressed, and kept for ever', async () => {
      let bytes = 0
      const page = await world().visit('/', async page => {
        await page.getByLabel('Login').waitFor()
        const names = await page.evaluate<string[]>(
          `performance.getEntriesByType('resource').map(entry => entry.name).filter(name => name.endsWith('.js'))`,
        )
        for (const name of names) {
          const reply = await fetch(name, { headers: { 'accept-encoding': 'br' } })
          assert.equal(reply.status, 200)
          assert.match(reply.headers.get('cache-control')!, /immutable/)
          bytes += Number(reply.headers.get('content-length'))
        }
      })
      assert.equal(page, undefined)
      assert.ok(bytes > 50_000 && bytes < MAX_SCRIPT_BYTES, `${bytes} bytes`)
    })
  })
}

/** To a page of the application, without loading it anew: over an address that has none, to know it from the last one. */
export async function goTo(page: Page, path: string): Promise<void> {
  await go(page, '/nowhere')
  const nowhere = page.getByRole('heading', { level: 1, name: 'Not found' })
  await nowhere.waitFor()
  await go(page, path)
  await nowhere.waitFor({ state: 'detached' })
  await settled(page)
}

/** Waits until what a page asks for has come. */
export async function settled(page: Page): Promise<void> {
  await page.locator('h1').waitFor()
  await eventually(async () => {
    assert.equal(await page.locator('[role=progressbar], [aria-busy=true], .MuiSkeleton-root').count(), 0)
  })
}

/**
 * Looks at each page in every way, for to come to one takes as long as to look at it. What the look or the size was last
 * is the first for the next page: a change of either draws everything anew.
 */
async function walkThrough(world: World): Promise<Faults> {
  const faults: Faults = {
    light: [],
    dark: [],
    lists: Object.fromEntries(WIDTHS.map(width => [width, []])),
    refused: [],
  }
  const looks: ('light' | 'dark')[] = ['light', 'dark']
  const examine = async (page: Page) => {
    await settled(page)
    if (!(await page.evaluate(`'axe' in window`))) await page.evaluate(axe.source)
    for (const look of looks) {
      await isIn(page, look)
      // Of all rules, one looks at colours.
      faults[look].push(...(await seriousFaults(page, look === 'dark' ? ['color-contrast'] : undefined)))
    }
    looks.reverse()
  }
  const onDesk = async (page: Page, path: string) => {
    await resize(page, SIZE)
    await examine(page)
    if (!LISTS.includes(path)) return
    for (const width of WIDTHS) {
      await resize(page, { ...SIZE, width })
      faults.lists[width]!.push({ path, outside: await outsideOfBox(page) })
    }
  }
  const onPhone = async (page: Page) => {
    await resize(page, SMALLEST)
    faults.light.push(...(await faultsOnPhone(page)))
  }
  await world.visit('/login', examine, SIZE)
  const ofRuns = await addressesOfRuns(world)
  await world.work(
    '/affiliates',
    async page => {
      const note = (response: Response) => {
        if (response.status() >= 400)
          faults.refused.push(`${page.url()}: ${response.status()} ${response.url()}`)
      }
      page.on('response', note)
      const sizes = [onDesk, onPhone]
      for (const path of [...(await addresses(page)), ...ofRuns]) {
        await goTo(page, path)
        for (const on of sizes) await on(page, path)
        sizes.reverse()
      }
      page.off('response', note)
      await resize(page, SIZE)
      await goTo(page, '/tools/api-keys')
      await page.getByRole('button', { name: 'Generate API key' }).click()
      await examine(page)
      await goTo(page, '/affiliates/1/show')
      await page.getByRole('button', { name: 'Delete' }).click()
      await examine(page)
    },
    SIZE,
  )
  return faults
}

/** A payout that a run has made, and a referral that a run has reserved, which are not what others of their kinds are. */
async function addressesOfRuns(world: World): Promise<string[]> {
  const [payout] = await world.read('/payouts?made_by=run&number=1')
  const group = await world.make('/groups', { name: 'In an approved run' })
  const affiliate = await world.make('/affiliates', {
    create_user: true,
    payment_email: 'reserved@example.com',
    status: 'active',
    group_id: group.id,
  })
  const referral = await world.make('/referrals', { affiliate_id: affiliate.id, amount: 7, status: 'unpaid' })
  const run = await world.make('/payout-runs', { group_id: group.id })
  const approved = await world.api('POST', `/payout-runs/${run.id}/approve`, { hash: run.hash })
  assert.equal(approved.status, 200, await approved.text())
  return [`/payouts/${payout.id}`, `/referrals/${referral.id}/show`, `/referrals/${referral.id}`]
}

/** As when the person changes the look of the system. */
async function isIn(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme })
  await eventually(async () => {
    assert.equal(await page.evaluate('getComputedStyle(document.documentElement).colorScheme'), colorScheme)
  })
}

/** Waits until the page is drawn in its new size. */
async function resize(page: Page, size: typeof SIZE): Promise<void> {
  if (isDeepStrictEqual(page.viewportSize(), size)) return
  await page.setViewportSize(size)
  await eventually(async () => assert.equal(await page.evaluate('innerWidth'), size.width))
  // What depends on the width is drawn anew in the frame after that which tells of it.
  await page.evaluate('new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))')
  await settled(page)
}

async function faultsOnPhone(page: Page): Promise<string[]> {
  const width = Number(await page.evaluate('document.documentElement.scrollWidth'))
  return width > SMALLEST.width ? [`${new URL(page.url()).pathname} is ${width} pixels wide`] : []
}

/** Tables that are wider than their box, and addresses that take two lines. */
async function outsideOfBox(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`[
    ...Array.from(document.querySelectorAll('.MuiTableContainer-root'))
      .filter(box => box.scrollWidth > box.clientWidth)
      .map(box => 'table of ' + box.scrollWidth + ' in ' + box.clientWidth),
    ...Array.from(document.querySelectorAll('main bdi'))
      .filter(text => /[.]\\d+@example.com$/.test(text.textContent))
      .filter(text => new Set(Array.from(text.getClientRects(), ({ top }) => top)).size > 1)
      .map(text => text.textContent),
  ]`)
}

/** @param rules those to try; all that find serious faults when omitted */
async function seriousFaults(page: Page, rules?: readonly string[]): Promise<string[]> {
  const options = rules
    ? JSON.stringify({ resultTypes: ['violations'], runOnly: rules })
    : `{ resultTypes: ['violations'], rules: Object.fromEntries(axe._audit.rules
        .filter(({ impact }) => impact === 'minor' || impact === 'moderate')
        .map(({ id }) => [id, { enabled: false }])) }`
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(document, ${options})`)
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(
      ({ id, nodes }) =>
        `${new URL(page.url()).pathname} ${id}: ${nodes[0]!.html} ${nodes[0]!.failureSummary}`,
    )
}
