import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { idle, type World } from './world.ts'

export function homeScenarios(world: () => World): void {
  describe('home', () => {
    test('what waits - is there with its number, is decided in its place, and can be taken back', async () => {
      const applicant = await world().make('/affiliates', {
        create_user: true,
        username: 'applicant',
        payment_email: 'applicant@example.com',
        status: 'pending',
      })
      const { id } = await world().make('/payouts', {
        affiliate_id: applicant.id,
        amount: 4,
        status: 'failed',
      })
      await world().work('/', async page => {
        const applications = page.getByRole('region', { name: 'Pending applications' })
        const newestFirst = applications.getByRole('listitem').first().getByText('applicant', { exact: true })
        await newestFirst.waitFor()
        await applications.getByRole('button', { name: 'Approve: applicant' }).click()
        const undo = idle(applications.getByRole('button', { name: 'Undo: approve, applicant' }))
        await undo.waitFor()
        assert.equal((await world().read(`/affiliates/${applicant.id}`)).status, 'active')
        // By key: a second click in the same place within half a second is half of a double click.
        await undo.press('Enter')
        await page.getByText('applicant is pending again').waitFor()

        const failed = page.getByRole('region', { name: 'Failed payouts' })
        await failed.getByRole('link', { name: `#${id}` }).waitFor()
        await failed.getByRole('link', { name: /^All \d+ failed payouts/ }).click()
        await page.getByRole('heading', { level: 1, name: 'Payouts' }).waitFor()
        assert.match(decodeURIComponent(page.url()), /"status":"failed"/)
        await page.goBack()
        await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
      })
    })

    test('search over everything, by key - letter by letter, and Enter opens it; ? lists the keys', async () => {
      const affiliate = await world().make('/affiliates', {
        create_user: true,
        username: 'needle',
        payment_email: 'needle@example.com',
      })
      const { id } = await world().make('/referrals', {
        affiliate_id: affiliate.id,
        amount: 1,
        description: 'A needle in the hay',
      })
      await world().make('/coupons', { affiliate_id: affiliate.id, code: 'NEEDLE-10' })
      await world().make('/groups', { name: 'Needle sellers' })
      await world().make('/links', { affiliate_id: affiliate.id, code: 'needle-link' })
      const sale = { kind: 'sale', context: 'shop', currency: 'USD', amount: 1 }
      await world().make('/conversions', { ...sale, reference: 'needle-7' })
      await world().work('/', async page => {
        await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
        const field = page.getByRole('dialog', { name: 'Search' }).getByRole('combobox', { name: 'Search' })
        // What is typed before the search has loaded is in it once it has.
        await page.route('**/Search-*.js', async route => {
          await new Promise(resolve => setTimeout(resolve, 500))
          await route.continue()
        })
        await page.keyboard.type('/nex')
        await page.keyboard.press('Backspace')
        await field.waitFor()
        await field.pressSequentially('edle', { delay: 120 })
        assert.equal(await field.inputValue(), 'needle')
        await page.getByRole('option', { name: 'needle, needle@example.com' }).first().waitFor()
        for (const name of ['NEEDLE-10', 'Needle sellers', 'Link needle-link', 'Sale needle-7']) {
          await page.getByRole('option', { name }).waitFor()
        }
        // What was found by an earlier text is none of what Enter opens.
        await field.pressSequentially('qq')
        await field.press('Enter')
        await page.getByText('Nothing matches.').waitFor()
        for (const key of ['Backspace', 'Backspace']) await field.press(key)
        await page.getByRole('option', { name: 'A needle in the hay' }).click()
        await page.getByRole('heading', { level: 1, name: `Referral ${id}` }).waitFor()

        await page.keyboard.press('ControlOrMeta+k')
        await field.pressSequentially('nobody')
        await page.keyboard.press('Escape')
        await page.getByRole('dialog', { name: 'Search' }).waitFor({ state: 'hidden' })
        await page.keyboard.press('ControlOrMeta+k')
        await field.pressSequentially('new payout')
        await page.getByRole('option', { name: 'New payout', exact: true }).waitFor()
        await page.keyboard.press('Enter')
        await page.getByRole('heading', { level: 1, name: 'Record payout' }).waitFor()
        // What is typed into a field is text.
        await page.getByLabel('Method').pressSequentially('a/b?')
        assert.equal(await page.getByLabel('Method').inputValue(), 'a/b?')
        assert.equal(await page.getByRole('dialog').count(), 0)
        await page.goto('/admin/tools/system')
        await page.getByText('Uptime').waitFor()
        await page.keyboard.press('?')
        await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
        await page.keyboard.press('Escape')
        await page.getByRole('dialog', { name: 'Keyboard' }).waitFor({ state: 'hidden' })
      })
    })
  })
}
