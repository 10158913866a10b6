/** Two people at the same record: one has its form open, another changes it meanwhile. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { World } from './world.ts'

/** As a browser says it when somebody comes back to the tab. */
const comeBack = (page: Page) => page.evaluate('window.dispatchEvent(new Event("visibilitychange"))')

const save = (page: Page) => page.getByRole('button', { name: 'Save' }).click()

export function contestedScenarios(world: () => World): void {
  const newAffiliate = async (username: string): Promise<number> => {
    const args = { create_user: true, payment_email: `${username}@example.com`, username }
    return (await world().make('/affiliates', args)).id
  }
  const owedTo = async (affiliate: number): Promise<number> => {
    const { unpaid, reserved } = await world().read(`/affiliates/${affiliate}/balances`)
    return unpaid + reserved
  }
  const somebody = async (path: string, change: object) => {
    const reply = await world().api('PATCH', path, change)
    assert.equal(reply.status, 200, await reply.text())
  }

  describe('changed by two people', () => {
    test('the amount of a referral - what is owed after it is reckoned with the amount of now', async () => {
      const affiliate_id = await newAffiliate('reckoned')
      const { id } = await world().make('/referrals', { affiliate_id, amount: 6.99, status: 'unpaid' })
      await world().work(`/referrals/${id}`, async page => {
        const owed = (text: string) => page.getByRole('status').getByText(text, { exact: true }).waitFor()
        const amount = page.getByLabel('Amount')
        await amount.fill('99')
        await owed('Owed now: $6.99. Owed after it: $99.00.')
        await somebody(`/referrals/${id}`, { amount: 506.99 })
        await comeBack(page)
        await owed('Owed now: $506.99. Owed after it: $99.00.')
        await page
          .getByText(
            'Someone else has changed this since the form was opened. Amount: $506.99 in the place of $6.99; saving asks before it overwrites that.',
          )
          .waitFor()
        await somebody(`/referrals/${id}`, { amount: 606.99 })
        await save(page)
        await page.getByText('It is $606.99 by now.').waitFor()
        await owed('Owed now: $606.99. Owed after it: $99.00.')
        assert.equal(await amount.inputValue(), '99')
        await save(page)
        await page.getByText(`Referral ${id} saved`).waitFor()
      })
      assert.equal(await owedTo(affiliate_id), 99)
    })

    test('the amount of a referral, of which only the description is typed - it stays, and the page says so', async () => {
      const affiliate_id = await newAffiliate('described')
      const { id } = await world().make('/referrals', { affiliate_id, amount: 26.79, status: 'unpaid' })
      await world().work(`/referrals/${id}`, async page => {
        await page.getByText('Owed now: $26.79. Owed after it: $26.79.').waitFor()
        await page.getByLabel('Description').fill('Two books')
        await somebody(`/referrals/${id}`, { amount: 700 })
        await comeBack(page)
        await page.getByText('Owed now: $700.00. Owed after it: $700.00.').waitFor()
        await page.getByText('Amount: $700.00 in the place of $26.79; that stays when you save.').waitFor()
        await save(page)
        await page.getByText(`Referral ${id} saved`).waitFor()
      })
      const { amount, description } = await world().read(`/referrals/${id}`)
      assert.deepEqual([amount, description], ['700.00', 'Two books'])
    })
  })
}
