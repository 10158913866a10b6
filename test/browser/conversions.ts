import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import type { World } from './world.ts'

export function conversionScenarios(world: () => World): void {
  describe('conversions', () => {
    test('a customer of an affiliate, and one of none - say so', async () => {
      const { id } = await world().make('/affiliates', {
        create_user: true,
        username: 'linked',
        payment_email: 'linked@example.com',
      })
      for (const [affiliate_id, name] of [
        [0, '–'],
        [id, 'linked'],
      ] as const) {
        const email = `customer.of.${affiliate_id}@example.com`
        const { customer_id } = await world().make('/customers', {
          email,
          ...(affiliate_id && { affiliate_id }),
        })
        await world().work(`/customers/${customer_id}/show`, async page => {
          const details = page.getByRole('region', { name: 'Details' })
          await details.locator('dt:text-is("Affiliate") + dd').getByText(name, { exact: true }).waitFor()
        })
      }
    })

    test('a sale that nobody is credited for - is found, credited by hand, and tells its story', async () => {
      const { id } = await world().make('/affiliates', {
        ...{ create_user: true, username: 'latecomer', payment_email: 'latecomer@example.com' },
        ...{ status: 'active', rate: 10, rate_type: 'percentage' },
      })
      const sale = { kind: 'sale', context: 'shop', reference: 'order-77', amount: 80, currency: 'USD' }
      await world().make('/conversions', sale)
      await world().make('/conversions', { ...sale, kind: 'refund', part: 'r1', amount: 20 })
      await world().work('/conversions?filter={"unattributed":"true"}', async page => {
        const row = page.getByRole('row').filter({ hasText: 'order-77' })
        await row.getByText('Nobody').waitFor()
        await row.getByRole('link').first().click()
        await page.getByRole('button', { name: 'Credit to an affiliate' }).click()
        const dialog = page.getByRole('dialog', { name: 'Credit to an affiliate' })
        await page.waitForLoadState('networkidle')
        await dialog.getByText('Search by name, e-mail address or number.').waitFor()
        await dialog
          .getByRole('combobox', { name: 'Affiliate' })
          .pressSequentially('latecomer', { delay: 60 })
        await page.getByRole('option', { name: /latecomer/ }).click()
        await dialog.getByRole('button', { name: 'Credit', exact: true }).click()
        const story = page.getByRole('region', { name: 'What happened' })
        await story.getByText(/^\w+ earns 8\.00 USD; 6\.00 USD of it stands, unpaid\.$/).waitFor()
        await story.getByText('Refund of 20.00 USD.').waitFor()
        await page.getByRole('region', { name: 'Why' }).getByText('60.00 USD is left.').waitFor()
        assert.equal(await page.getByRole('button', { name: 'Credit to an affiliate' }).count(), 0)
      })
      assert.equal((await world().read(`/affiliates/${id}`)).unpaid_earnings, 6)

      // Somebody else is quicker.
      const raced = { ...sale, reference: 'order-78' }
      const { conversion } = await world().make('/conversions', raced)
      const quicker = await world().make('/affiliates', {
        create_user: true,
        payment_email: 'quicker@example.com',
        status: 'active',
      })
      await world().work(`/conversions/${conversion.id}/show`, async page => {
        const button = page.getByRole('button', { name: 'Credit to an affiliate' })
        await button.click()
        const dialog = page.getByRole('dialog', { name: 'Credit to an affiliate' })
        await dialog.getByRole('combobox', { name: 'Affiliate' }).pressSequentially('late', { delay: 60 })
        await page.getByRole('option', { name: /latecomer/ }).click()
        await world().make('/conversions', { ...raced, kind: 'attribution', affiliate_id: quicker.id })
        await dialog.getByRole('button', { name: 'Credit', exact: true }).click()
        await page.getByText(/^Conversion \d+ credits quicker.* for this payment already/).waitFor()
        await dialog.waitFor({ state: 'hidden' })
        await button.waitFor({ state: 'hidden' })
      })
    })

    test('an amount in a currency that browsers round - is shown with all of its decimals, as in its history', async () => {
      const sale = { kind: 'sale', context: 'shop', reference: 'forint-1', amount: 1234.56, currency: 'HUF' }
      const lines = [{ product: 'Lamp', quantity: 1, amount: 1234.56 }]
      const { conversion } = await world().make('/conversions', { ...sale, tax: 4.25, lines })
      await world().work(`/conversions/${conversion.id}/show`, async page => {
        const amount = page.locator('dd').getByText('HUF 1,234.56', { exact: true })
        await amount.waitFor()
        await page.locator('dd').getByText('HUF 4.25', { exact: true }).waitFor()
        await page.getByText('1 × Lamp, HUF 1,234.56').waitFor()
        const history = page.getByRole('region', { name: 'History' })
        await history.getByText('HUF 1,234.56', { exact: true }).waitFor()
      })
    })

    test('a source is set up, and reads a sample without keeping anything', async () => {
      await world().work('/sources/create', async page => {
        await page.getByLabel('Name').fill('Own shop')
        await page.getByRole('combobox', { name: 'Type' }).click()
        await page.getByRole('option', { name: 'One of your own' }).click()
        await page.getByLabel('Secret').first().fill('a long secret of the shop')
        await page
          .getByLabel('Mapping')
          .fill('{"kind": "sale", "reference": "/order/id", "amount": "/total"}')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByRole('link', { name: 'Own shop' }).click()
        await page.getByText(/\/v1\/sources\/\d+\/deliveries/).waitFor()
        await page.getByLabel('Sample of a delivery').fill('{"order": {"id": 5}, "total": "12.50"}')
        await page.getByRole('button', { name: 'Try' }).click()
        await page
          .getByRole('status')
          .getByText(/Sale 5.*Amount: 12\.5/s)
          .waitFor()

        // The page says what was wrong last; the history, of each delivery.
        const path = `/v1${page.url().match(/\/sources\/\d+/)![0]}/deliveries`
        for (const id of ['first', 'second']) {
          const body = JSON.stringify({ order: { id }, total: 'a lot' })
          const { status } = await fetch(`${world().server.announced.url}${path}`, {
            method: 'POST',
            headers: {
              'content-type': 'application/json',
              'x-signature': createHmac('sha256', 'a long secret of the shop').update(body).digest('hex'),
            },
            body,
          })
          assert.equal(status, 200)
        }
        await page.reload()
        await page.getByRole('alert').getByText('The last one that was not taken: "second"').waitFor()
        const history = page.getByRole('region', { name: 'History' })
        await history.getByText('Source created').waitFor()
        await history.getByText(/problem: .*→ "second"/).waitFor()
        await history.getByText(/problem: .*→ "first"/).waitFor()
      })
    })
  })
}
