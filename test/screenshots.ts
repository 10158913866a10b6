/**
 * Takes a picture of every page, on the demo data, at 360 and 1440 pixels, light and dark: to be looked at after a
 * change of the administration area. Run it with `node test/screenshots.ts FOLDER [page …]`; with `--view` a picture
 * ends where the window does, as those in docs/images do.
 */
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
  await page.getByRole('heading', { name: 'History' }).waitFor()
}

const pictures: Record<string, Picture> = {
  home: { path: '/' },
  search: {
    path: '/',
    steps: async page => {
      await page.keyboard.press('/')
      await page.getByRole('combobox', { name: 'Search' }).pressSequentially('jan')
      await page.getByRole('option', { name: /@/ }).first().waitFor()
    },
  },
  affiliates: { path: '/affiliates' },
  ledger: { path: '/affiliates/12/ledger' },
  'affiliates-deleted': { path: '/affiliates/deleted' },
  'affiliates-selected': {
    path: '/affiliates?filter={"status":"pending"}',
    steps: async page => {
      await page.getByText(/^1-25 of/).waitFor()
      const boxes = await page.locator('tbody').getByRole('checkbox').all()
      for (const box of boxes.slice(0, 3)) await box.check()
    },
  },
  'affiliates-none': { path: '/affiliates?filter={"search":"nobody at all"}' },
  'affiliate-create': { path: '/affiliates/create' },
  'affiliate-show': { path: '/affiliates/12/show' },
  'affiliate-edit': { path: '/affiliates/12' },
  'affiliate-delete': {
    path: '/affiliates/12/show',
    steps: page => page.getByRole('button', { name: 'Delete' }).click(),
  },
  referrals: { path: '/referrals' },
  'referral-create': { path: '/referrals/create' },
  'referral-write-off': { path: '/referrals/create?type=write_off&affiliate_id=1' },
  'referral-show': { path: '/referrals?filter={"status":"unpaid"}', steps: openFirst },
  'referral-edit': {
    path: '/referrals?filter={"status":"unpaid"}',
    steps: async page => {
      await openFirst(page)
      await page.getByRole('link', { name: 'Edit' }).click()
    },
  },
  visits: { path: '/visits' },
  customers: { path: '/customers' },
  'customer-create': { path: '/customers/create' },
  'customer-show': { path: '/customers', steps: openFirst },
  creatives: { path: '/creatives' },
  'creative-create': { path: '/creatives/create' },
  payouts: { path: '/payouts' },
  'payout-create': { path: '/payouts/create' },
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
  users: { path: '/users' },
  'user-create': { path: '/users/create' },
  'user-edit': { path: '/users/3' },
  'user-own': { path: '/users/1' },
  settings: { path: '/settings' },
  account: { path: '/account' },
}

const looks = [
  { width: 1440, height: 900, colorScheme: 'light' },
  { width: 360, height: 740, colorScheme: 'light' },
  { width: 1440, height: 900, colorScheme: 'dark' },
] as const

const world = await World.start('--demo')
await mkdir(folder, { recursive: true })
try {
  for (const look of looks) {
    const suffix = `${look.width}-${look.colorScheme}.png`
    if (wanted.length === 0 || wanted.includes('login')) {
      await world.visit('/login', page => shoot(page, `login-${suffix}`), look)
    }
    for (const [name, { path, steps }] of Object.entries(pictures)) {
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

async function shoot(page: Page, name: string): Promise<void> {
  await page.waitForLoadState('networkidle')
  await page.waitForTimeout(150)
  await page.screenshot({
    path: join(folder, name),
    fullPage: !values.view && !/delete|generate|token|selected/.test(name),
  })
}
