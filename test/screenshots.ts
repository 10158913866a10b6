/**
 * Takes a picture of every page of the menu, its first record and its form, and of what else is listed here, on the demo data, at 360 and 1440 pixels, light and dark: to be looked at after a
 * change of the administration area. Run it with `node test/screenshots.ts FOLDER [page …]`; with `--view` a picture
 * ends where the window does, as those in docs/images do.
 */
import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Page } from 'playwright-core'
import { World } from './browser/world.ts'

const { positionals, values } = parseArgs({ allowPositionals: true, options: { view: { type: 'boolean' } } })
const [folder = 'screenshots', ...wanted] = positionals

interface Picture {
  path: string
  steps?: (page: Page) => Promise<unknown>
}

const openFirst = async (page: Page) => {
  await page.locator('main').getByRole('link', { name: /#/ }).first().click()
  await page.waitForLoadState('networkidle')
}

/** What needs more than a click in the menu. */
const pictures: Record<string, Picture> = {
  search: {
    path: '/',
    steps: async page => {
      await page.keyboard.press('/')
      await page.getByRole('combobox', { name: 'Search' }).pressSequentially('jan')
      await page.getByRole('option', { name: /@/ }).first().waitFor()
    },
  },
  ledger: { path: '/affiliates/12/ledger' },
  'affiliates-deleted': { path: '/affiliates/deleted' },
  'affiliates-selected': {
    path: '/affiliates?filter={"status":"pending"}',
    steps: async page => {
      await page.getByText(/^1-\d+ of/).waitFor()
      const boxes = await page.locator('tbody').getByRole('checkbox').all()
      for (const box of boxes.slice(0, 3)) await box.check()
    },
  },
  'affiliates-none': { path: '/affiliates?filter={"search":"nobody at all"}' },
  'affiliate-show': { path: '/affiliates/12/show' },
  'affiliate-edit': { path: '/affiliates/12' },
  'affiliate-delete': {
    path: '/affiliates/12/show',
    steps: page => page.getByRole('button', { name: 'Delete' }).click(),
  },
  'referral-write-off': { path: '/referrals/create?type=write_off&affiliate_id=1' },
  'referral-show': { path: '/referrals?filter={"status":"unpaid"}', steps: openFirst },
  'referral-edit': {
    path: '/referrals?filter={"status":"unpaid"}',
    steps: async page => {
      await openFirst(page)
      await page.getByRole('link', { name: 'Edit' }).click()
    },
  },
  'payout-edit': { path: '/payouts/12' },
  reports: { path: '/reports?span=all' },
  'reports-numbers': {
    path: '/reports',
    steps: page => page.getByRole('button', { name: 'Show numbers of Failed against paid' }).click(),
  },
  keys: { path: '/tools/api-keys' },
  'keys-generate': {
    path: '/tools/api-keys',
    steps: page => page.getByRole('button', { name: 'Generate API key' }).click(),
  },
  'keys-token': {
    path: '/tools/api-keys',
    steps: async page => {
      await page.getByRole('button', { name: 'Generate API key' }).click()
      await page.getByLabel('Name').fill('Shop')
      await page.getByRole('button', { name: 'Generate', exact: true }).click()
      await page.getByLabel('Token').waitFor()
    },
  },
  export: { path: '/tools/export' },
  system: { path: '/tools/system' },
  'user-edit': { path: '/users/3' },
  'user-own': { path: '/users/1' },
  account: { path: '/account' },
}

/** Each page of the menu; of a list also its form, and its first record. */
async function picturesOfMenu(page: Page): Promise<Record<string, Picture>> {
  await page.getByRole('heading', { level: 1 }).waitFor()
  const links = await page.getByRole('navigation').getByRole('link').all()
  const paths = await Promise.all(links.map(link => link.getAttribute('href')))
  const found: Record<string, Picture> = {}
  for (const path of paths.map(path => path!.replace(/^\/admin/, '') || '/')) {
    const name = path.slice(1).replaceAll('/', '-') || 'home'
    found[name] = { path }
    await page.goto(`${world.server.announced.url}/admin${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForLoadState('networkidle')
    const main = page.locator('main')
    if (await main.locator(`a[href$="${path}/create"]`).count())
      found[`${name}-create`] = { path: `${path}/create` }
    const record = main.locator(`a[href^="/admin${path}/"]:not([href$="/create"])`).first()
    if (await record.count())
      found[`${name}-first`] = { path: (await record.getAttribute('href'))!.replace('/admin', '') }
  }
  return found
}

const looks = [
  { width: 1440, height: 900, colorScheme: 'light' },
  { width: 360, height: 740, colorScheme: 'light' },
  { width: 1440, height: 900, colorScheme: 'dark' },
] as const

const world = await World.start('--demo')
await mkdir(folder, { recursive: true })
try {
  if (values.view) await leadSomewhere()
  const all = { ...pictures }
  await world.work('/', async page => {
    Object.assign(all, await picturesOfMenu(page))
  })
  for (const look of looks) {
    const suffix = `${look.width}-${look.colorScheme}.png`
    if (wanted.length === 0 || wanted.includes('login')) {
      await world.visit('/login', page => shoot(page, `login-${suffix}`), look)
    }
    for (const [name, { path, steps }] of Object.entries(all)) {
      if (wanted.length > 0 && !wanted.includes(name)) continue
      await world.work(
        path,
        async page => {
          await page.getByRole('heading', { level: 1 }).waitFor()
          await steps?.(page)
          await shoot(page, `${name}-${suffix}`)
        },
        look,
      )
    }
  }
} finally {
  await world.close()
}

/** As in a programme that has begun: until its pages are set, each link has a warning. */
async function leadSomewhere(): Promise<void> {
  const pages = { programme_page: 'https://shop.example/', visitor_url: 'https://go.shop.example' }
  const { status, body } = await (await world.administrator()).patch('/settings', pages)
  assert.equal(status, 200, JSON.stringify(body))
}

async function shoot(page: Page, name: string): Promise<void> {
  await page.waitForLoadState('networkidle')
  await page.waitForTimeout(150)
  await page.screenshot({
    path: join(folder, name),
    fullPage: !values.view && !/delete|generate|token|selected/.test(name),
  })
}
