import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { column, downloaded } from './affiliates.ts'
import { goTo, settled } from './pages.ts'
import { eventually, idle, type World } from './world.ts'

export function referralScenarios(world: () => World): void {
  const newAffiliate = (name: string) =>
    world().make('/affiliates', { create_user: true, username: name, payment_email: `${name}@example.com` })

  describe('referrals', () => {
    test('in German, an amount is typed as it is shown', () =>
      world().work(
        '/referrals/create',
        async page => {
          const amount = page.getByLabel('Amount')
          const shown = page.getByText(/^= /)
          const typed = [
            ['1234,5', '1234.5', /^= 1\.234,50.\$$/],
            ['1.234,50', '1234.50', /^= 1\.234,50.\$$/],
            ['12.50', '12.50', /^= 12,50.\$$/],
            ['0,07', '0.07', /^= 0,07.\$$/],
          ] as const
          for (const [text, value, means] of typed) {
            await amount.fill('')
            await amount.pressSequentially(text)
            assert.equal(await amount.inputValue(), value)
            assert.match(await shown.innerText(), means)
          }
          // Nobody knows which of the two was meant.
          for (const text of ['1,2,3', '1.23,4', '1.234']) {
            await amount.fill('')
            await amount.pressSequentially(text)
            assert.equal(await shown.count(), 0, text)
          }
          await amount.fill('1,2,3')
          await amount.blur()
          await page.getByText('Enter one comma at most, before the decimals.').waitFor()
          await page.reload()
          await page.getByText('In USD, such as 1250,50').waitFor()
        },
        { locale: 'de-DE' },
      ))

    test('record, approve, take back, edit, delete - each is done, said, and stands in the ledger', async () => {
      const affiliate = await newAffiliate('earner')
      const owed = async () => (await world().read(`/affiliates/${affiliate.id}`)).unpaid_earnings
      await world().work('/referrals', async page => {
        await page.getByRole('link', { name: 'Record referral' }).click()
        await page.getByRole('heading', { level: 1, name: 'Record referral' }).waitFor()
        await page.getByRole('combobox', { name: 'Affiliate' }).pressSequentially('earner', { delay: 60 })
        await page.getByRole('option', { name: /earner/ }).click()
        await page.getByLabel('Amount').pressSequentially('12.5')
        await page.getByLabel('Description').fill('A lamp')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByRole('heading', { level: 1, name: /^Referral \d+$/ }).waitFor()
        const id = Number(page.url().match(/referrals\/(\d+)\/show/)![1])
        const ledger = page.getByRole('region', { name: 'In the ledger', exact: true })
        await ledger.getByText('Commission → Pending').waitFor()
        await page
          .getByRole('region', { name: 'Why' })
          .getByText('It is pending until it is approved.')
          .waitFor()

        await page.getByRole('button', { name: `Approve: Referral ${id}` }).click()
        await ledger.getByText('Pending → Unpaid').waitFor()
        assert.equal(await owed(), 12.5)
        await idle(page.getByRole('button', { name: /^Undo/ })).press('Enter')
        await ledger.getByText('Unpaid → Pending').waitFor()
        assert.equal(await owed(), 0)
        const approve = page.getByRole('button', { name: `Approve: Referral ${id}` })
        await approve.and(page.locator(':focus')).waitFor()

        // Rejected with a reason, which ends with the rejection.
        const why = page.getByRole('region', { name: 'Why' })
        const question = page.getByRole('alertdialog')
        const given = why.getByText('The reason given: “Bought it herself”')
        await page.getByRole('button', { name: 'Reject' }).press('Enter')
        // Whoever types at once types the reason.
        await question.getByLabel('Reason (optional)').and(page.locator(':focus')).waitFor()
        await page.keyboard.type('Not this one')
        await question.getByRole('button', { name: 'Cancel' }).click()
        await question.waitFor({ state: 'detached' })
        await page.getByRole('button', { name: 'Reject' }).click()
        assert.equal(await question.getByLabel('Reason (optional)').inputValue(), '')
        await question.getByLabel('Reason (optional)').pressSequentially('Bought it herself ', { delay: 20 })
        await question.getByLabel('Reason (optional)').press('Enter')
        await page.getByText(`Referral ${id} rejected`).waitFor()
        await given.waitFor()
        await page
          .getByRole('region', { name: 'History' })
          .getByText(/^rejection reason: .*Bought it herself$/)
          .waitFor()
        await page.getByRole('link', { name: 'Referrals', exact: true }).click()
        await page.getByRole('heading', { level: 1, name: 'Referrals' }).waitFor()
        await page.goBack()
        await given.waitFor()
        await page.getByRole('link', { name: 'Edit' }).click()
        const reason = page.getByLabel('Reason of the rejection')
        await eventually(async () => assert.equal(await reason.inputValue(), 'Bought it herself'))
        const earner = page.getByRole('combobox', { name: 'Affiliate' })
        const own = await earner.inputValue()
        await earner.fill('')
        await earner.pressSequentially('#1', { delay: 60 })
        await page.getByRole('option', { name: /#1 / }).first().click()
        await eventually(async () => assert.equal(await reason.inputValue(), ''))
        await settled(page)
        await earner.fill('')
        await earner.pressSequentially(own.split(' #')[0]!, { delay: 60 })
        await page.getByRole('option', { name: own, exact: true }).click()
        await reason.fill('Returned')
        await page.getByRole('button', { name: 'Save' }).click()
        await why.getByText('The reason given: “Returned”').waitFor()
        await page.getByRole('button', { name: `Approve: Referral ${id}` }).click()
        await page.getByRole('button', { name: /^Undo/ }).waitFor()
        await why.getByText(/^The reason given/).waitFor({ state: 'detached' })
        await world().api('PATCH', `/referrals/${id}`, { status: 'pending' })
        // Who edits what was read before is told that somebody else has changed it.
        await page.reload()
        await why.getByText('It is pending until it is approved.').waitFor()

        await page.getByRole('link', { name: 'Edit' }).click()
        await page.getByLabel('Amount').fill('20')
        await page.getByLabel('Description').fill('')
        await page.getByRole('button', { name: 'Save' }).click()
        await ledger.getByText('$7.50').waitFor()
        assert.equal((await world().read(`/referrals/${id}`)).description, '')

        // The second half of a double click is no answer to the question.
        await page.getByRole('button', { name: 'Delete' }).dblclick()
        await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
        await page.getByText(`Referral ${id} deleted`).waitFor()
        assert.equal((await world().api('GET', `/referrals/${id}`)).status, 404)
      })
    })

    test('file that cannot be had - the page says why', () =>
      world().work('/referrals', async page => {
        const refusal = { code: 'rest_unavailable', message: 'The database is away.', data: { status: 503 } }
        await page.route(/exports\/referrals/, route =>
          route.fulfill({ status: 503, contentType: 'application/json', body: JSON.stringify(refusal) }),
        )
        await page.getByRole('link', { name: 'Export CSV' }).click()
        await page.getByText(refusal.message).waitFor()
        await page.unrouteAll()
        const { name } = await downloaded(page, 'Export CSV')
        assert.match(name, /\.csv$/)
      }))

    test('filter by one of several values - what takes it away is called as it is shown', () =>
      world().work('/referrals', async page => {
        await page.getByLabel('Type').click()
        await page.getByRole('option', { name: 'Refund' }).click()
        await page.waitForURL(/refund/)
        await page.getByLabel('Type').click()
        await page.getByRole('option', { name: 'Any', exact: true }).click()
        await page.waitForURL(url => !url.href.includes('refund'))
      }))

    test('digits of Arabic - an amount is typed as it is shown', () =>
      world().work(
        '/referrals/create',
        async page => {
          const amount = page.getByLabel('Amount')
          for (const typed of ['١٬٢٣٤٫٥', '1234.5']) {
            await amount.fill('')
            await amount.pressSequentially(typed)
            await page.getByText(/^= .*١٬٢٣٤٫٥٠/).waitFor()
          }
          await amount.fill('')
        },
        { locale: 'ar-EG' },
      ))

    test('decimal comma - explanations have it as well, but for what is in quotes', async () => {
      const { id } = await newAffiliate('commaearner')
      const { referral_id } = await world().make('/referrals', {
        affiliate_id: id,
        amount: 223.01,
        status: 'pending',
      })
      const rejection = { status: 'rejected', rejection_reason: 'Of 9.50 USD only' }
      assert.equal((await world().api('PATCH', `/referrals/${referral_id}`, rejection)).status, 200)
      await world().work(
        `/referrals/${referral_id}/show`,
        async page => {
          const why = page.getByRole('region', { name: 'Why' })
          await why.getByText('The amount of 223,01 USD was sent as it is').waitFor()
          await why.getByText('“Of 9.50 USD only”').waitFor()
        },
        { locale: 'de-DE' },
      )
    })

    test('of a campaign whose name has a comma - typed, emptied and typed again, in the list and in its file', async () => {
      const affiliate = await newAffiliate('campaigner')
      for (const campaign of ['spring, summer', 'spring', 'summer']) {
        await world().make('/referrals', { affiliate_id: affiliate.id, amount: 1, campaign })
      }
      await world().work(`/referrals?filter={"affiliate_id":${affiliate.id}}`, async page => {
        await page.getByText('1-3 of 3').waitFor()
        const campaign = page.getByLabel('Campaign')
        await campaign.pressSequentially('spring, summer', { delay: 60 })
        await page.getByText('1-1 of 1').waitFor()
        // In the same field, and not typed anew from its beginning.
        await page.keyboard.press('Backspace')
        await page.getByText('Nothing matches').waitFor()
        await page.keyboard.type('r')
        await page.getByText('1-1 of 1').waitFor()
        const { text } = await downloaded(page, 'Export CSV')
        assert.match(text.trim().split('\r\n').slice(1).join(), /^[^\n]*"spring, summer"[^\n]*$/)
        await campaign.press('End')
        for (const _ of 'spring, summer') await campaign.press('Backspace')
        await page.getByText('1-3 of 3').waitFor()
        await campaign.pressSequentially('summer', { delay: 60 })
        await page.getByText('1-1 of 1').waitFor()
        await page.reload()
        await page.getByText('1-1 of 1').waitFor()
        assert.equal(await campaign.inputValue(), 'summer')
        await page.getByRole('button', { name: 'Clear filters' }).first().click()
        await eventually(async () => assert.equal(await campaign.inputValue(), ''))
      })
    })

    test('several approved, one of which a payout has paid - the others are, it is named, and the choice ends', async () => {
      const affiliate = await newAffiliate('bulkearner')
      const ids: number[] = []
      for (const amount of [1, 2, 3]) {
        const { id } = await world().make('/referrals', { affiliate_id: affiliate.id, amount })
        ids.unshift(id)
      }
      const [third, , first] = ids
      await world().api('PATCH', `/referrals/${first}`, { status: 'unpaid' })
      await world().make('/payouts', { affiliate_id: affiliate.id, referrals: [first] })
      await world().work(`/referrals?filter={"affiliate_id":${affiliate.id}}`, async page => {
        await page.getByText('1-3 of 3').waitFor()
        await page.getByLabel('Choose all on this page').check()
        const bar = page.getByRole('region', { name: 'Chosen' })
        await bar.getByRole('button', { name: 'Approve' }).click()
        await page
          .getByRole('alertdialog')
          .getByText('It changes 2 pending, $5.00. 1 other stays as it is.')
          .waitFor()
        await page.getByRole('alertdialog').getByRole('button', { name: 'Approve' }).click()
        const outcome = page.getByRole('dialog', { name: '2 referrals approved, 1 not' })
        await outcome.getByText(`#${first}: Payout`).waitFor()
        await outcome.getByRole('button', { name: 'Close' }).click()
        await eventually(async () => {
          assert.deepEqual(await column(page, 'Status'), ['Unpaid', 'Unpaid', 'Paid'])
        })
        await bar.waitFor({ state: 'hidden' })

        // What is chosen next is alone.
        await page.getByLabel(`Choose Referral ${third}`).check()
        await bar.getByText('1 chosen').waitFor()
        await bar.getByRole('button', { name: 'Reject' }).click()
        await page.getByRole('alertdialog').getByLabel('Reason (optional)').fill('Sent twice')
        await page.getByRole('alertdialog').getByRole('button', { name: 'Reject' }).click()
        await page.getByText('1 referral rejected').waitFor()
        const explained = await world().read(`/referrals/${third}/explanation`)
        assert.equal(explained.rejection_reason, 'Sent twice')
        const status = async (id: number) => (await world().read(`/referrals/${id}`)).status
        assert.deepEqual(await Promise.all(ids.map(status)), ['rejected', 'unpaid', 'paid'])
      })
    })

    test('all that match are approved, also those of the next page, and no others', async () => {
      const affiliate = await newAffiliate('allmatching')
      const make = (status: string) =>
        world().make('/referrals', { affiliate_id: affiliate.id, amount: 1, status })
      for (let count = 0; count < 27; count += 1) await make('pending')
      const other = await make('rejected')
      const filter = JSON.stringify({ affiliate_id: affiliate.id, status: ['pending'] })
      await world().work(`/referrals?filter=${encodeURIComponent(filter)}`, async page => {
        await page.getByText('1-25 of 27').waitFor()
        await page.getByLabel('Choose all on this page').check()
        const bar = page.getByRole('region', { name: 'Chosen' })
        await bar.getByLabel('All 27 that match').check()
        // The wish ends with the choice.
        const statuses = page.getByRole('group', { name: 'Status' })
        await statuses.getByRole('button', { name: /^Rejected/ }).click()
        await bar.waitFor({ state: 'hidden' })
        await statuses.getByRole('button', { name: /^Pending/ }).click()
        await page.getByText('1-25 of 27').waitFor()
        await page.getByLabel('Choose all on this page').check()
        assert.equal(await bar.getByLabel('All 27 that match').isChecked(), false)
        await bar.getByLabel('All 27 that match').check()
        await bar.getByRole('button', { name: 'Approve' }).click()
        await page.getByRole('alertdialog').getByRole('button', { name: 'Approve' }).click()
        await page.getByText('27 referrals approved').waitFor()
      })
      assert.equal((await world().read(`/affiliates/${affiliate.id}/balances`)).unpaid, 27)
      assert.equal((await world().read(`/referrals/${other.id}`)).status, 'rejected')
    })

    test('several marked as paid, of which one changes and another comes while it is asked - neither is, and it says so', async () => {
      const affiliate = await newAffiliate('askedmeanwhile')
      const make = async (amount: number): Promise<number> => {
        const args = { affiliate_id: affiliate.id, amount, status: 'unpaid' }
        return (await world().make('/referrals', args)).id
      }
      const ids = [await make(125), await make(12.5), await make(12.6)]
      const status = async (id: number) => (await world().read(`/referrals/${id}`)).status
      const filter = encodeURIComponent(JSON.stringify({ affiliate_id: affiliate.id, status: ['unpaid'] }))
      const refunded = ids[0]!
      await world().work(`/referrals?filter=${filter}`, async page => {
        const bar = page.getByRole('region', { name: 'Chosen' })
        const question = page.getByRole('alertdialog')
        await page.getByLabel('Choose all on this page').check()
        await bar.getByRole('button', { name: 'Mark as paid' }).click()
        await question.getByText('It changes 3 unpaid, $150.10.').waitFor()
        await world().api('PATCH', `/referrals/${refunded}`, { amount: 25 })
        await question.getByRole('button', { name: 'Mark as paid' }).click()
        const outcome = page.getByRole('dialog', { name: '2 referrals marked as paid, 1 not' })
        await outcome.getByText(`#${refunded}: Its amount has changed since it was looked at.`).waitFor()
        await outcome.getByRole('button', { name: 'Close' }).click()
        assert.deepEqual(await Promise.all(ids.map(status)), ['unpaid', 'paid', 'paid'])

        for (let count = 0; count < 26; count += 1) await make(1)
        await page.reload()
        await page.getByText('1-25 of 27').waitFor()
        await page.getByLabel('Choose all on this page').check()
        await bar.getByLabel('All 27 that match').check()
        await bar.getByRole('button', { name: 'Mark as paid' }).click()
        await question.getByText('It changes 27 unpaid, $51.00.').waitFor()
        const later = await make(777.77)
        await question.getByRole('button', { name: 'Mark as paid' }).click()
        await page.getByText('27 referrals marked as paid').waitFor()
        assert.deepEqual([await status(refunded), await status(later)], ['paid', 'unpaid'])
      })
    })

    test('all that match approved, of which one is rejected while it is asked - it says so where no row is left', async () => {
      const affiliate = await newAffiliate('nonematches')
      const args = { affiliate_id: affiliate.id, amount: 10, status: 'pending' }
      const [{ id: rejected }] = [
        await world().make('/referrals', args),
        await world().make('/referrals', args),
      ]
      const filter = encodeURIComponent(JSON.stringify({ affiliate_id: affiliate.id, status: 'pending' }))
      await world().work(`/referrals?filter=${filter}`, async page => {
        const question = page.getByRole('alertdialog')
        await page.getByLabel('Choose all on this page').check()
        await page.getByRole('region', { name: 'Chosen' }).getByRole('button', { name: 'Approve' }).click()
        await question.getByText('It changes 2 pending').waitFor()
        await world().api('PATCH', `/referrals/${rejected}`, { status: 'rejected' })
        await question.getByRole('button', { name: 'Approve' }).click()
        await page.getByText('Nothing matches').waitFor()
        const outcome = page.getByRole('dialog', { name: '1 referral approved, 1 not' })
        await outcome.getByText(`#${rejected}: `).waitFor()
        await outcome.getByRole('button', { name: 'Close' }).click()
        // The button that was pressed is gone: who has no mouse goes on at the list.
        await page.locator('[data-rows]:focus').getByText('Nothing matches').waitFor()
      })
    })

    test('approved in a page that is out of date - is not, and what it shows is read again', async () => {
      const affiliate = await newAffiliate('outofdate')
      const args = { affiliate_id: affiliate.id, amount: 10, status: 'pending' }
      const { id } = await world().make('/referrals', args)
      await world().work(`/referrals/${id}/show`, async page => {
        const approve = page.getByRole('button', { name: /^Approve/ })
        await approve.waitFor()
        await world().api('PATCH', `/referrals/${id}`, { amount: 9999 })
        await approve.click()
        await page.getByText('someone else has changed the amount meanwhile').waitFor()
        assert.equal((await world().read(`/referrals/${id}`)).status, 'pending')
        await page.getByText('$9,999.00').first().waitFor()
        await idle(approve).click()
        await page.getByText(`Referral ${id} approved`).waitFor()
      })
    })

    test('decided on what somebody else has decided meanwhile - nothing is done, and the question stays with what was typed', async () => {
      const affiliate = await newAffiliate('decidedmeanwhile')
      const args = { affiliate_id: affiliate.id, amount: 10, status: 'pending' }
      const { id } = await world().make('/referrals', args)
      const others = 'Nothing was done: someone else has changed the status meanwhile.'
      await world().work(`/referrals/${id}/show`, async page => {
        await page.getByRole('button', { name: 'Reject' }).click()
        const question = page.getByRole('alertdialog')
        const reason = question.getByLabel('Reason (optional)')
        await reason.fill('Bought it himself')
        await world().api('PATCH', `/referrals/${id}`, { status: 'paid' })
        await question.getByRole('button', { name: 'Reject' }).click()
        await question.getByText(others).waitFor()
        await page.getByText('Paid', { exact: true }).first().waitFor()
        assert.equal(await reason.inputValue(), 'Bought it himself')
        assert.ok(await question.getByRole('button', { name: 'Reject' }).isDisabled())
        await question.getByRole('button', { name: 'Cancel' }).click()
        await question.waitFor({ state: 'detached' })
        assert.equal(await page.getByRole('button', { name: 'Reject' }).count(), 0)
        await page.locator('h1:focus').waitFor()
        assert.equal((await world().read(`/referrals/${id}`)).status, 'paid')

        // Nor does a button without a question say how to overwrite it.
        const { id: other } = await world().make('/referrals', args)
        await goTo(page, `/referrals/${other}/show`)
        const approve = page.getByRole('button', { name: /^Approve/ })
        await approve.waitFor()
        await world().api('PATCH', `/referrals/${other}`, { status: 'rejected' })
        await approve.click()
        await page.getByText(others).waitFor()
        assert.equal((await world().read(`/referrals/${other}`)).status, 'rejected')
      })
    })

    test('payout of what is ticked - the amount is their sum and can differ; what is left is written off', async () => {
      const affiliate = await newAffiliate('ticked')
      const ids: number[] = []
      for (const amount of [10.1, 20.2, 30.3]) {
        const args = { affiliate_id: affiliate.id, amount, status: 'unpaid' }
        ids.push((await world().make('/referrals', args)).id)
      }
      await world().work(`/affiliates/${affiliate.id}/show`, async page => {
        await page.getByRole('link', { name: 'Record payout' }).click()
        const amount = page.getByLabel('Amount')
        const tick = (id: number | undefined) =>
          page.getByRole('checkbox', { name: new RegExp(`referral ${id}$`) })
        await amount.pressSequentially('70')
        await page
          .getByText(
            'No referral is ticked: $60.60 stays owed, and it can be paid again. $70.00 is more than the $60.60 that is owed.',
          )
          .waitFor()
        await amount.fill('')
        await page.getByLabel('All 3 referrals, $60.60').check()
        await page.getByText('Owed after it: $0.00.').waitFor()
        await page.getByText('3 referrals ticked, $60.60 in all.').waitFor()
        assert.equal(await amount.inputValue(), '60.60')
        await tick(ids[2]).uncheck()
        assert.equal(await amount.inputValue(), '30.30')
        await amount.fill('25')
        await tick(ids[1]).uncheck()
        await page.getByText('1 referral ticked, $10.10 in all.').waitFor()
        assert.equal(await amount.inputValue(), '25')
        await tick(ids[1]).check()
        await page
          .getByText(
            'The amount is $5.30 less than the referrals that are ticked, which all become paid: no later payout pays the $5.30.',
          )
          .waitFor()
        await page.getByText('Owed after it: $30.30.').waitFor()
        await page.getByRole('button', { name: 'Save' }).dblclick()
        await page.getByText(/Payout \d+ recorded/).waitFor()
        await page.getByRole('heading', { level: 1, name: /^ticked/ }).waitFor()
        const [payout] = await world().read(`/payouts?affiliate_id=${affiliate.id}`)
        assert.deepEqual([payout.amount, payout.referrals], [25, `${ids[0]},${ids[1]}`])

        assert.equal((await world().api('DELETE', `/affiliates/${affiliate.id}`)).status, 200)
        await page.goto('/admin/affiliates/deleted')
        await page.getByRole('link', { name: `ticked #${affiliate.id}` }).click()
        const balances = page.getByRole('table', { name: 'Balances' })
        await balances.getByRole('row', { name: /^Unpaid .*\$30\.30$/ }).waitFor()
        await balances.getByRole('row', { name: /^Difference .*\$5\.30$/ }).waitFor()
        await page.getByRole('link', { name: 'Write off' }).click()
        await page.getByLabel('Amount').pressSequentially('30.3')
        await page.getByText('Owed now: $30.30. Owed after it: $0.00.').waitFor()
        await page.getByLabel('more', { exact: true }).check()
        await page.getByText('Owed after it: $60.60.').waitFor()
        await page.getByLabel('less', { exact: true }).check()
        await page.getByLabel('Reason').fill('Left the programme')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByRole('heading', { level: 1, name: /^Referral \d+$/ }).waitFor()
        const { unpaid, written_off } = await world().read(`/affiliates/${affiliate.id}/balances`)
        assert.deepEqual([unpaid, written_off], [0, 30.3])
      })
    })

    test('payout of what somebody else has paid meanwhile - is refused, and what is unpaid still is listed anew', async () => {
      const { id: affiliate_id } = await newAffiliate('paidmeanwhile')
      const ids: number[] = []
      for (const amount of [40, 2]) {
        ids.push((await world().make('/referrals', { affiliate_id, amount, status: 'unpaid' })).id)
      }
      await world().work(`/payouts/create?affiliate_id=${affiliate_id}`, async page => {
        await page.getByLabel('All 2 referrals, $42.00').check()
        await world().make('/payouts', { affiliate_id, amount: 40, status: 'paid', referrals: `${ids[0]}` })
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByRole('alert').getByText(`Referral ${ids[0]} is paid by payout`).waitFor()
        await page.getByLabel('All 1 referral, $2.00').waitFor()
        await page.getByText('Owed after it: $0.00.').waitFor()
        await eventually(async () => assert.equal(await page.getByLabel('Amount').inputValue(), '2.00'))
        assert.equal(await page.getByRole('textbox', { name: 'Referrals' }).inputValue(), `${ids[1]}`)
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText(/Payout \d+ recorded/).waitFor()
      })
      assert.equal((await world().read(`/affiliates/${affiliate_id}/balances`)).unpaid, 0)
    })

    test('payout whose affiliate is changed and changed back - referrals are ticked anew, and the amount follows them', async () => {
      const of = async (name: string, amounts: readonly number[]) => {
        const { id: affiliate_id } = await newAffiliate(name)
        const make = (amount: number) =>
          world().make('/referrals', { affiliate_id, amount, status: 'unpaid' })
        const ids: number[] = []
        for (const amount of amounts) ids.push((await make(amount)).id)
        return { affiliate: affiliate_id, ids }
      }
      const first = await of('firstchosen', [100, 20, 3])
      await of('otherchosen', [7])
      await world().work(`/payouts/create?affiliate_id=${first.affiliate}`, async page => {
        const amount = page.getByLabel('Amount')
        const referrals = page.getByRole('textbox', { name: 'Referrals' })
        const shown = async (...expected: [amount: string, referrals: string]) =>
          eventually(async () =>
            assert.deepEqual([await amount.inputValue(), await referrals.inputValue()], expected),
          )
        const choose = async (name: string) => {
          await page.getByRole('combobox', { name: 'Affiliate' }).fill(name)
          await page.getByRole('option', { name: new RegExp(name) }).click()
        }
        await page.getByRole('checkbox', { name: new RegExp(`referral ${first.ids[1]}$`) }).check()
        await shown('20.00', `${first.ids[1]}`)
        await choose('otherchosen')
        await page.getByLabel('All 1 referral, $7.00').waitFor()
        await shown('', '')
        await choose('firstchosen')
        await page.getByLabel('All 3 referrals, $123.00').check()
        await shown('123.00', first.ids.join(', '))

        // What somebody has typed stays, and is compared.
        await amount.fill('130')
        await choose('otherchosen')
        await page.getByLabel('All 1 referral, $7.00').waitFor()
        await shown('130', '')
        await choose('firstchosen')
        await page.getByLabel('All 3 referrals, $123.00').check()
        await page
          .getByText('The amount is $7.00 more than the referrals that are ticked, which all become paid')
          .waitFor()
        await referrals.fill(`${first.ids.join()}, 999999`)
        await page.getByText('Referrals that are not listed above are named').waitFor()
        await referrals.fill(first.ids.join())
        await amount.fill('123')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText(/Payout \d+ recorded/).waitFor()
      })
      const { unpaid, difference } = await world().read(`/affiliates/${first.affiliate}/balances`)
      assert.deepEqual([unpaid, difference], [0, 0])
    })
  })
}
