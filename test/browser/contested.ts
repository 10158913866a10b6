/** Two people at the same record: one has its form open, another changes it meanwhile. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { settled } from './pages.ts'
import { eventually, type World } from './world.ts'

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

    test('what was typed before the record was read again - does not overwrite unasked what was changed before that', async () => {
      const affiliate_id = await newAffiliate('readagain')
      const { id } = await world().make('/coupons', { code: 'READAGAIN', affiliate_id, campaign: 'spring' })
      const stored = async () => (await world().read(`/coupons/${id}`)).campaign
      await world().work('/coupons', async page => {
        const record = new RegExp(`/coupons/${id}$`)
        const reading = Promise.withResolvers<void>()
        await page.route(record, async route => {
          await reading.promise
          await route.continue()
        })
        const link = page.getByRole('link', { name: 'READAGAIN', exact: true })
        await link.waitFor()
        await somebody(`/coupons/${id}`, { campaign: 'summer' })
        await link.click()
        const campaign = page.getByLabel('Campaign')
        assert.equal(await campaign.inputValue(), 'spring')
        await campaign.press('End')
        await campaign.pressSequentially(' sale')
        const read = page.waitForResponse(record)
        reading.resolve()
        await (await read).finished()
        await settled(page)
        await save(page)
        await page.getByText('It is summer by now.').waitFor()
        assert.equal(await stored(), 'summer')
        await save(page)
        await page.getByText(`Coupon ${id} saved`).waitFor()
        assert.equal(await stored(), 'spring sale')
      })
    })

    test('the notes of an affiliate - nothing is typed over them before they are read', async () => {
      const id = await newAffiliate('annotated')
      await somebody(`/affiliates/${id}`, { notes: 'Met at the fair' })
      await world().work('/affiliates', async page => {
        const reading = Promise.withResolvers<void>()
        await page.route(new RegExp(`/affiliates/${id}/notes$`), async route => {
          await reading.promise
          await route.continue()
        })
        await page.getByRole('link', { name: 'annotated' }).click()
        await page.getByRole('link', { name: 'Edit' }).click()
        const notes = page.getByLabel('Notes')
        await assert.rejects(notes.waitFor({ timeout: 1_000 }))
        reading.resolve()
        await notes.waitFor()
        assert.equal(await notes.inputValue(), 'Met at the fair')
      })
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

    test('the amount of a referral that is rejected meanwhile - is asked for again, and the status stays theirs', async () => {
      const affiliate_id = await newAffiliate('rejectedmeanwhile')
      const args = { affiliate_id, status: 'unpaid' }
      const { id } = await world().make('/referrals', { ...args, amount: 12.71 })
      await world().make('/referrals', { ...args, amount: 35.56 })
      await world().work(`/referrals/${id}`, async page => {
        await page.getByLabel('Amount').fill('80')
        await page.getByText('Owed now: $48.27. Owed after it: $115.56.').waitFor()
        await somebody(`/referrals/${id}`, { status: 'rejected' })
        await comeBack(page)
        await page.getByText('Owed now: $35.56. Owed after it: $35.56.').waitFor()
        await page.getByText('Status: rejected in the place of unpaid; that stays when you save.').waitFor()
        await save(page)
        await page.getByText('It is rejected by now.').waitFor()
        await page.getByText('Someone else has changed this meanwhile. Save again').waitFor()
        assert.equal((await world().read(`/referrals/${id}`)).amount, '12.71')
        // What the form shows is what is saved.
        const status = page.getByRole('combobox', { name: 'Status' })
        await eventually(async () => assert.equal(await status.innerText(), 'Rejected'))
        await page.getByText('Owed now: $35.56. Owed after it: $35.56.').waitFor()
        assert.equal(await page.getByLabel('Amount').inputValue(), '80')
        await save(page)
        await page.getByText(`Referral ${id} saved`).waitFor()
        const { amount, status: stored } = await world().read(`/referrals/${id}`)
        assert.deepEqual([amount, stored], ['80.00', 'rejected'])
      })
      assert.equal(await owedTo(affiliate_id), 35.56)
    })

    test('the description of a rejected referral that is approved meanwhile - it stays approved, without the reason', async () => {
      const affiliate_id = await newAffiliate('approvedmeanwhile')
      const args = { affiliate_id, amount: 10, status: 'rejected', rejection_reason: 'Bought it himself' }
      const { id } = await world().make('/referrals', args)
      await world().work(`/referrals/${id}`, async page => {
        const reason = page.getByLabel('Reason of the rejection')
        await reason.waitFor()
        await page.getByLabel('Description').fill('Two books')
        await somebody(`/referrals/${id}`, { status: 'unpaid' })
        await save(page)
        await page.getByText('It is unpaid by now.').waitFor()
        await reason.waitFor({ state: 'detached' })
        await page.getByText('Owed now: $10.00. Owed after it: $10.00.').waitFor()
        await save(page)
        await page.getByText(`Referral ${id} saved`).waitFor()
      })
      const { status, description } = await world().read(`/referrals/${id}`)
      assert.deepEqual([status, description], ['unpaid', 'Two books'])
    })

    test('the amount of a payout that fails meanwhile - is asked for again, with what is owed then', async () => {
      const affiliate_id = await newAffiliate('failedmeanwhile')
      const { id } = await world().make('/referrals', { affiliate_id, amount: 99, status: 'unpaid' })
      const payout = await world().make('/payouts', { affiliate_id, referrals: `${id}`, amount: 99 })
      await world().work(`/payouts/${payout.id}`, async page => {
        await page.getByLabel('Amount').fill('5')
        await page.getByText('Owed after it: $0.00.').waitFor()
        await page.getByLabel('Method').fill('by hand')
        await somebody(`/payouts/${payout.id}`, { affiliate_id, status: 'failed', note: 'Came back' })
        await comeBack(page)
        await page.getByText('Status: failed in the place of paid; that stays when you save.').waitFor()
        await page.getByText('Owed after it: $99.00.').waitFor()
        await save(page)
        await page.getByText('It is failed by now.').waitFor()
        // What was typed is not saved yet.
        const asked = Promise.withResolvers<void>()
        page.once('dialog', async question => {
          await question.dismiss()
          asked.resolve()
        })
        await page.getByRole('button', { name: 'Cancel' }).click()
        await asked.promise
        assert.equal((await world().read(`/payouts/${payout.id}`)).amount, 99)
        const status = page.getByRole('combobox', { name: 'Status' })
        await eventually(async () => assert.equal(await status.innerText(), 'Failed'))
        await page.getByText('Owed after it: $99.00.').waitFor()
        assert.equal(await page.getByLabel('Amount').inputValue(), '5')
        assert.equal(await page.getByLabel('Method').inputValue(), 'by hand')
        assert.equal(await page.getByLabel('Note').inputValue(), 'Came back')
        await save(page)
        await page.getByText(`Payout ${payout.id} saved`).waitFor()
        const stored = await world().read(`/payouts/${payout.id}`)
        assert.deepEqual([stored.amount, stored.status, stored.payout_method], [5, 'failed', 'by hand'])
      })
      assert.equal(await owedTo(affiliate_id), 99)
    })

    test('the method of a payout that is given to another affiliate meanwhile - it stays with that one', async () => {
      const [affiliate_id, other] = [await newAffiliate('giver'), await newAffiliate('taker')]
      const payout = await world().make('/payouts', { affiliate_id, amount: 5, status: 'failed' })
      await world().work(`/payouts/${payout.id}`, async page => {
        await page.getByLabel('Method').fill('by hand')
        await somebody(`/payouts/${payout.id}`, { affiliate_id: other })
        await comeBack(page)
        await page
          .getByText(
            'Affiliate: taker, taker@example.com in the place of giver, giver@example.com; that stays when you save.',
          )
          .waitFor()
        await save(page)
        await page.getByText(`Payout ${payout.id} saved`).waitFor()
      })
      const stored = await world().read(`/payouts/${payout.id}`)
      assert.deepEqual([stored.affiliate_id, stored.payout_method], [other, 'by hand'])
    })

    test('a rule that is replaced meanwhile - what has changed is said, and saving again changes the version of now', async () => {
      const made = await world().make('/rules', {
        name: 'Of two people',
        rate: 10,
        priority: 50,
        conditions: [{ field: 'product', is: ['Book'] }],
      })
      const current = async () => (await world().read(`/rules?series=${made.series}&status=current`))[0]
      await world().work(`/rules/${made.id}`, async page => {
        const rate = page.getByRole('textbox', { name: 'Rate', exact: true })
        const priority = page.getByLabel('Priority')
        await priority.fill('77')
        await page.getByLabel('Values').fill('Book, Map')
        await somebody(`/rules/${made.id}`, { rate: 13, hold_days: 14 })
        await save(page)
        await page.getByText('It is 13 by now.').waitFor()
        await page.getByText('It is 14 by now.').waitFor()
        await page.getByText('Someone else has changed this meanwhile.').waitFor()
        assert.equal((await current()).version, 2)
        await eventually(async () => assert.equal(await rate.inputValue(), '13'))
        assert.equal(await priority.inputValue(), '77')
        assert.equal(await page.getByLabel('Values').inputValue(), 'Book, Map')
        await page.getByRole('heading', { level: 1, name: 'Of two people, version 2' }).waitFor()

        // Once more, the same fields and a condition.
        await somebody(`/rules/${(await current()).id}`, {
          priority: 60,
          conditions: [
            { field: 'product', is: ['Globe'] },
            { field: 'country', is: ['AT'] },
          ],
        })
        await save(page)
        await page.getByText('It is 60 by now.').waitFor()
        await page
          .getByText('It is Product is one of Globe; Country is one of AT by now.', { exact: true })
          .waitFor()
        assert.equal(await priority.inputValue(), '77')
        assert.equal(await page.getByLabel('Values').inputValue(), 'Book, Map')
        // What they have changed can be changed back.
        await rate.fill('10')
        await save(page)
        await page.getByText(`Rule ${made.id} saved`).waitFor()
      })
      const { version, rate, priority, hold_days, conditions } = await current()
      assert.deepEqual(
        [version, rate, priority, hold_days, conditions],
        [4, '10', 77, 14, [{ field: 'product', is: ['Book', 'Map'] }]],
      )
      await world().api('DELETE', `/rules/${(await current()).id}`)
    })
  })
}
