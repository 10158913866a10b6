import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { column, downloaded } from './affiliates.ts'
import { goTo, settled } from './pages.ts'
import { eventually, idle, type World } from './world.ts'

export function payoutScenarios(world: () => World): void {
  const newAffiliate = (name: string) =>
    world().make('/affiliates', { create_user: true, payment_email: `${name}@example.com`, username: name })

  describe('payouts', () => {
    test('record one as failed, set it to paid, edit it, delete it - the amount is exact all the way', async () => {
      const affiliate = await newAffiliate('payee')
      await world().work('/payouts/create', async page => {
        await page.getByRole('combobox', { name: 'Affiliate' }).fill('payee')
        await page.getByRole('option', { name: /payee/ }).click()
        await page.getByLabel('Amount').fill('1,234.5')
        await page.getByLabel('Amount').blur()
        await page.getByText('Enter the amount without commas').waitFor()
        await page.getByLabel('Amount').fill('999999999999.999')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText('USD has at most 2 decimals.').waitFor()
        await page.getByLabel('Amount').fill('123456789012.34')
        await page.getByText('= $123,456,789,012.34').waitFor()
        await page.getByLabel('Status').click()
        await page.getByRole('option', { name: 'Failed' }).click()
        await page.getByLabel('Method').fill('bank transfer')
        await page.getByLabel('Referrals').fill('4, 5')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText(/Payout \d+ recorded/).waitFor()
        const [payout] = await world().read(`/payouts?affiliate_id=${affiliate.id}`)
        assert.equal(payout.status, 'failed')
        assert.equal(payout.amount, 123456789012.34)
        assert.equal(payout.referrals, '4,5')

        await page.getByRole('button', { name: `Mark as paid: payout ${payout.id}` }).click()
        await page.getByText(`Payout ${payout.id} of $123,456,789,012.34 is paid now`).waitFor()
        assert.equal((await world().read(`/payouts/${payout.id}`)).status, 'paid')

        await goTo(page, `/payouts/${payout.id}`)
        await page.getByLabel('Amount').fill('0.10')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText(`Payout ${payout.id} saved`).waitFor()
        assert.equal((await world().read(`/payouts/${payout.id}`)).amount, 0.1)

        await goTo(page, `/affiliates/${affiliate.id}/show`)
        await page.getByText('$0.10 paid in 1 payout').waitFor()
        await page.getByRole('img', { name: /^Payouts by month/ }).waitFor()

        await page.getByRole('link', { name: `#${payout.id}` }).click()
        await page.getByRole('heading', { level: 1, name: `Payout ${payout.id}` }).waitFor()
        await page.getByRole('button', { name: 'Delete' }).click()
        const question = page.getByRole('alertdialog')
        await question.getByText(`Delete payout ${payout.id} of $0.10?`).waitFor()
        await question.getByRole('button', { name: 'Delete' }).click()
        await page.getByText(`Payout ${payout.id} of $0.10 deleted`).waitFor()
        assert.equal((await world().api('GET', `/payouts/${payout.id}`)).status, 404)
      })
    })

    test('payouts by month - the axis says the amounts between its ends in full, which take more room', async () => {
      const affiliate = await newAffiliate('axis')
      await world().make('/payouts', { affiliate_id: affiliate.id, amount: 1981.73 })
      await world().work(`/affiliates/${affiliate.id}/show`, async page => {
        const labels = page
          .getByRole('img', { name: /^Payouts by month/ })
          .locator('.MuiChartsAxis-directionY text')
        await labels.getByText('$2K').waitFor()
        assert.deepEqual(await labels.allTextContents(), ['$0', '$500', '$1K', '$1.5K', '$2K'])
      })
    })

    test('answer that does not arrive - says so, and saving again records the payout once', async () => {
      const affiliate = await newAffiliate('once')
      await world().work('/payouts/create', async page => {
        const keys: string[] = []
        let lost = true
        await page.route('**/admin/api/payouts', async route => {
          if (lost) {
            await route.fetch()
            await route.abort('connectionreset')
          } else await route.continue()
          keys.push(route.request().headers()['idempotency-key']!)
        })
        const save = async () => {
          const sent = keys.length
          await page.getByRole('button', { name: 'Save' }).click()
          await eventually(async () => assert.ok(keys.length > sent))
        }
        await page.getByRole('combobox', { name: 'Affiliate' }).fill('once')
        await page.getByRole('option', { name: /once/ }).click()
        await page.getByLabel('Amount').fill('10')
        await save()
        await page.getByRole('alert').getByText('It may have been saved.').waitFor()
        await save()
        assert.equal(keys[1], keys[0])
        assert.equal((await world().read(`/payouts?affiliate_id=${affiliate.id}`)).length, 1)

        // What was changed and changed back is what was sent before.
        lost = false
        await page.getByLabel('Amount').fill('11')
        await page.getByLabel('Amount').fill('10')
        await save()
        await page.getByText(/Payout \d+ recorded/).waitFor()
        assert.equal(keys[2], keys[0])
        const listed = await world().read(`/payouts?affiliate_id=${affiliate.id}`)
        assert.deepEqual(
          listed.map(({ amount }: { amount: number }) => amount),
          [10],
        )
      })
    })

    test('form changed after a lost answer - is sent under another key and recorded', async () => {
      const affiliate = await newAffiliate('changed')
      await world().work('/payouts/create', async page => {
        await page.route('**/admin/api/payouts', async route => {
          await route.fetch()
          await route.abort('connectionreset')
        })
        await page.getByRole('combobox', { name: 'Affiliate' }).fill('changed')
        await page.getByRole('option', { name: /changed/ }).click()
        await page.getByLabel('Amount').fill('10')
        // What is said of the affiliate moves the button.
        await page.getByText('This affiliate has no unpaid referrals.').waitFor()
        await page.getByText('$10.00 is more than the $0.00 that is owed.').waitFor()
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByRole('alert').getByText('It may have been saved.').waitFor()
        await page.unroute('**/admin/api/payouts')
        await page.getByLabel('Amount').fill('11')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText(/Payout \d+ recorded/).waitFor()
        assert.equal((await world().read(`/payouts?affiliate_id=${affiliate.id}`)).length, 2)
      })
    })

    test('two people edit the same payout - the second is told, and different fields come together', async () => {
      const affiliate = await newAffiliate('contested')
      const payout = await world().make('/payouts', {
        affiliate_id: affiliate.id,
        amount: 5,
        status: 'failed',
      })
      const somebody = (change: object) =>
        world().api('PATCH', `/payouts/${payout.id}`, { affiliate_id: affiliate.id, ...change })
      const open = async (page: Page) => {
        await page.goto(`/admin/payouts/${payout.id}`)
        await page.getByText('= $').waitFor()
      }
      const save = (page: Page) => page.getByRole('button', { name: 'Save' }).click()
      await world().work('/payouts', async page => {
        await open(page)
        await somebody({ payout_method: 'paypal' })
        await page.getByLabel('Amount').fill('6')
        await save(page)
        await page.getByText(`Payout ${payout.id} saved`).waitFor()
        const merged = await world().read(`/payouts/${payout.id}`)
        assert.deepEqual([merged.amount, merged.payout_method], [6, 'paypal'])

        await open(page)
        await somebody({ amount: 7 })
        await page.getByLabel('Amount').fill('8')
        await page.getByText(/Owed after it/).waitFor()
        const reading = Promise.withResolvers<void>()
        await page.route('**/balances', async route => {
          await reading.promise
          await route.continue()
        })
        const asked = page.waitForRequest('**/balances')
        await save(page)
        await page.getByText('It is $7.00 by now.').waitFor()
        await page.getByText('Someone else has changed this meanwhile.').waitFor()
        await asked
        await page.getByText(/Owed after it/).waitFor()
        reading.resolve()
        assert.equal((await world().read(`/payouts/${payout.id}`)).amount, 7)
        await save(page)
        await page.getByText(`Payout ${payout.id} saved`).waitFor()
        assert.equal((await world().read(`/payouts/${payout.id}`)).amount, 8)
      })
    })

    test('edited - what an amount, referrals and a status change about what is owed is said before it is saved', async () => {
      const { id: affiliate_id } = await newAffiliate('lessthanowed')
      const { id } = await world().make('/referrals', { affiliate_id, amount: 6, status: 'unpaid' })
      const payout = await world().make('/payouts', { affiliate_id, referrals: `${id}` })
      await world().work(`/referrals/${id}/show`, async page => {
        // What would be refused is not offered: the payout can be corrected.
        await page
          .getByRole('link', { name: `#${payout.id}` })
          .first()
          .waitFor()
        await page.getByRole('link', { name: 'Edit' }).waitFor()
        assert.equal(await page.getByRole('button', { name: 'Delete' }).count(), 0)
        await goTo(page, `/payouts/${payout.id}`)
        const says = (text: string) => page.getByRole('status').getByText(text, { exact: true }).waitFor()
        const amount = page.getByLabel('Amount')
        const referrals = page.getByRole('textbox', { name: 'Referrals' })
        await amount.fill('5')
        await says(
          'The amount is $1.00 less than the referrals that are named, which are all paid by it: no later payout pays the $1.00. Owed after it: $0.00.',
        )
        await referrals.fill('')
        await says('No referral is named: $6.00 stays owed, and it can be paid again. Owed after it: $6.00.')
        await referrals.fill(`${id}, 999999`)
        await says(
          'Referrals are named that are not known as unpaid ones of this affiliate: the amount is not compared with theirs. Owed after it: $0.00.',
        )
        await referrals.fill(`${id}`)
        await amount.fill('6')
        await page.getByText(/Owed after it/).waitFor({ state: 'detached' })
        await page.getByLabel('Status').click()
        await page.getByRole('option', { name: 'Failed' }).click()
        await says('Owed after it: $6.00.')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText(`Payout ${payout.id} saved`).waitFor()
        assert.equal((await world().read(`/affiliates/${affiliate_id}/balances`)).unpaid, 6)
        // Of one that has failed, they are among those that can be paid.
        await goTo(page, `/payouts/${payout.id}`)
        await page.getByLabel('Status').click()
        await page.getByRole('option', { name: 'Paid' }).click()
        await says('Owed after it: $0.00.')
      })
    })

    test('marked as paid in the list of failed ones - no row moves, the focus stays, and it can be undone', async () => {
      const affiliate = await newAffiliate('undone')
      const ids: number[] = []
      for (const amount of [1, 2, 3]) {
        const args = { affiliate_id: affiliate.id, amount, status: 'failed' }
        ids.unshift((await world().make('/payouts', args)).id)
      }
      const [first, second] = ids
      const filter = JSON.stringify({ affiliate_id: affiliate.id, status: 'failed' })
      await world().work(`/payouts?filter=${filter}`, async page => {
        const rows = () => column(page, 'Payout')
        const status = async (id: number) => (await world().read(`/payouts/${id}`)).status
        const numbers = ids.map(id => `#${id}`)
        await eventually(async () => assert.deepEqual(await rows(), numbers))
        // A double click is one click.
        await page.getByRole('button', { name: `Mark as paid: payout ${first}` }).dblclick()
        const undo = page.getByRole('button', { name: `Undo: mark as paid, payout ${first}` })
        await undo.waitFor()
        await settled(page)
        assert.deepEqual(await rows(), numbers)
        assert.deepEqual(await column(page, 'Status'), [
          'Paid\nUndo',
          'Failed\nMark as paid',
          'Failed\nMark as paid',
        ])
        assert.deepEqual([await status(first!), await status(second!)], ['paid', 'failed'])
        await eventually(async () =>
          assert.match((await page.locator('dd').allInnerTexts())[2]!, /2 payouts/),
        )

        // As on a busy machine: a record that has changed is shown some time after its answer.
        await page.evaluate(
          '{ const set = setTimeout; window.setTimeout = (act, ms) => set(act, ms || 100) }',
        )
        const focus = () => page.evaluate('document.activeElement.getAttribute("aria-label")')
        assert.equal(await focus(), `Undo: mark as paid, payout ${first}`)
        await idle(undo).waitFor()
        await page.keyboard.press('Enter')
        await page.getByText(`Payout ${first} of $3.00 is failed again`).waitFor()
        await page.getByRole('button', { name: `Mark as paid: payout ${first}` }).waitFor()
        await eventually(async () => assert.equal(await focus(), `Mark as paid: payout ${first}`))
        assert.equal(await status(first!), 'failed')
      })
    })

    test('marked as paid while something is typed - not before it is saved', async () => {
      const affiliate = await newAffiliate('typing')
      const payout = await world().make('/payouts', {
        affiliate_id: affiliate.id,
        amount: 5,
        status: 'failed',
      })
      await world().work(`/payouts/${payout.id}`, async page => {
        const mark = page.getByRole('button', { name: /^Mark as paid/ })
        await mark.waitFor()
        assert.equal(await mark.isEnabled(), true)
        await page.getByLabel('Amount').fill('6')
        await eventually(async () => assert.equal(await mark.isDisabled(), true))
        await page.getByLabel('Amount').fill('5')
        await page.getByLabel('Amount').blur()
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText(`Payout ${payout.id} saved`).waitFor()
        await goTo(page, `/payouts/${payout.id}`)
        await mark.click()
        await page.getByText(`Payout ${payout.id} of $5.00 is paid now`).waitFor()
        await page.getByRole('button', { name: /^Undo/ }).waitFor()
        await eventually(async () => assert.equal(await page.getByLabel('Status').innerText(), 'Paid'))
      })
    })

    test('affiliate chosen by number - comes first of all that the number finds', async () => {
      await world().work('/payouts/create', async page => {
        const field = page.getByRole('combobox', { name: 'Affiliate' })
        for (const typed of ['5', '#5']) {
          await field.fill(typed)
          await eventually(async () => {
            assert.match((await page.getByRole('option').first().textContent())!, / #5 /)
          })
        }
      })
    })

    test('affiliate typed letter by letter, as slowly as people do - nothing that was typed is erased', async () => {
      const affiliate = await newAffiliate('slowtyped')
      await newAffiliate('slowother')
      await world().make('/payouts', { affiliate_id: affiliate.id, amount: 3 })
      const slowly = { delay: 350 }
      await world().work('/payouts/create', async page => {
        const field = page.getByRole('combobox', { name: 'Affiliate' })
        await field.pressSequentially('slowty', slowly)
        assert.equal(await field.inputValue(), 'slowty')
        await page.getByRole('option', { name: /slowtyped/ }).click()
        assert.match(await field.inputValue(), /^slowtyped #/)

        await page.goto('/admin/payouts')
        await field.pressSequentially('slowty', slowly)
        assert.equal(await field.inputValue(), 'slowty')
        await page.getByRole('option', { name: /slowtyped/ }).click()
        await page.getByText('1-1 of 1').waitFor()

        // Another one takes its place, typed over it.
        await field.press('ControlOrMeta+a')
        await field.pressSequentially('slowo', slowly)
        assert.equal(await field.inputValue(), 'slowo')
        await page.getByRole('option', { name: /slowother/ }).click()
        await page.getByText('Nothing matches').waitFor()

        await goTo(page, '/affiliates/create')
        await page.getByLabel('An existing account').check()
        const account = page.getByRole('combobox', { name: 'Account' })
        await account.pressSequentially('slowty', slowly)
        assert.equal(await account.inputValue(), 'slowty')
      })
    })

    test('list as it was left - after looking at a payout, and after saving one', async () => {
      const affiliate = await newAffiliate('returning')
      for (const payout_method of ['cheque', 'cheque', 'cash']) {
        await world().make('/payouts', { affiliate_id: affiliate.id, amount: 3, payout_method })
      }
      await world().work('/payouts', async page => {
        const narrowed = async () => {
          await eventually(async () => {
            assert.deepEqual(await column(page, 'Method'), ['cheque', 'cheque'])
          })
          assert.equal(await page.getByLabel('Method').inputValue(), 'cheque')
        }
        await page.getByLabel('Method').fill('cheque')
        await narrowed()
        const openFirst = () => page.getByRole('table').getByRole('link', { name: /^#/ }).first().click()
        for (const leave of [
          () => page.getByRole('link', { name: '← Payouts' }).click(),
          () => page.getByRole('button', { name: 'Cancel' }).click(),
          async () => {
            await page.getByLabel('Amount').fill('4')
            await page.getByRole('button', { name: 'Save' }).click()
          },
        ]) {
          await openFirst()
          await page.getByText('= $').waitFor()
          await leave()
          await narrowed()
        }
        await page.getByLabel('Amount from').fill('1,000')
        await page.getByText('Enter the amount without commas').waitFor()
        await narrowed()
      })
    })

    test('affiliate deleted - the payout still tells of it, and an edit keeps it', async () => {
      const affiliate = await newAffiliate('gone')
      const payout = await world().make('/payouts', {
        affiliate_id: affiliate.id,
        amount: 5,
        status: 'failed',
      })
      assert.equal((await world().api('DELETE', `/affiliates/${affiliate.id}`)).status, 200)
      await world().work(`/payouts/${payout.id}`, async page => {
        const shown = page.getByRole('combobox', { name: 'Affiliate' })
        await eventually(async () => {
          assert.equal(await shown.inputValue(), `Affiliate ${affiliate.id} (deleted)`)
        })
        const sent = async (button: string | RegExp) => {
          const [request] = await Promise.all([
            page.waitForRequest(request => request.method() === 'PATCH'),
            page.getByRole('button', { name: button }).click(),
          ])
          return request.postDataJSON()
        }
        await page.getByLabel('Method').fill('by hand')
        assert.deepEqual(await sent('Save'), { affiliate_id: affiliate.id, payout_method: 'by hand' })
        await page.getByText(`Payout ${payout.id} saved`).waitFor()
        await page.goto(`/admin/payouts/${payout.id}`)
        assert.deepEqual(await sent(/^Mark as paid/), { affiliate_id: affiliate.id, status: 'paid' })
        await page.getByText(`Payout ${payout.id} of $5.00 is paid now`).waitFor()
        const { affiliate_id, status, payout_method } = await world().read(`/payouts/${payout.id}`)
        assert.deepEqual([affiliate_id, status, payout_method], [affiliate.id, 'paid', 'by hand'])
      })
    })

    test('no amount - is asked for, and zero is an amount', async () => {
      const affiliate = await newAffiliate('nothing')
      await world().work('/payouts/create', async page => {
        await page.getByRole('combobox', { name: 'Affiliate' }).fill('nothing')
        await page.getByRole('option', { name: /nothing/ }).click()
        for (const empty of ['', ' ']) {
          await page.getByLabel('Amount').fill(empty)
          await page.getByRole('button', { name: 'Save' }).click()
          await page.getByText('Enter an amount. It may be 0.').waitFor()
          await page.getByRole('alert').getByText('Not saved. Look at Amount.').waitFor()
        }
        assert.equal((await world().read(`/payouts?affiliate_id=${affiliate.id}`)).length, 0)
        await page.getByLabel('Amount').fill('0')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText(/Payout \d+ recorded/).waitFor()
        assert.equal((await world().read(`/payouts?affiliate_id=${affiliate.id}`))[0].amount, 0)
      })
    })

    test('row - its text can be selected, and a click that asks for another tab gets one', async () => {
      const affiliate = await newAffiliate('selected')
      const payout = await world().make('/payouts', {
        affiliate_id: affiliate.id,
        amount: 3,
        payout_method: 'money order',
      })
      await world().work(`/payouts?filter={"affiliate_id":${affiliate.id}}`, async page => {
        const method = page.getByRole('cell', { name: 'money order' })
        const box = (await method.locator('bdi').boundingBox())!
        await page.mouse.move(box.x + 1, box.y + box.height / 2)
        await page.mouse.down()
        await page.mouse.move(box.x + box.width - 1, box.y + box.height / 2, { steps: 5 })
        await page.mouse.up()
        assert.equal(await page.evaluate('String(getSelection())'), 'money order')
        assert.match(page.url(), /\/payouts\?/)

        for (const click of [
          () => method.click({ modifiers: ['ControlOrMeta'] }),
          () => method.click({ button: 'middle' }),
        ]) {
          const [tab] = await Promise.all([page.context().waitForEvent('page'), click()])
          await tab.waitForURL(`**/admin/payouts/${payout.id}`)
          await tab.close()
        }
        assert.match(page.url(), /\/payouts\?/)
        await method.click()
        await page.waitForURL(`**/admin/payouts/${payout.id}`)
      })
    })

    test('phone - a failed payout is set to paid from its card', async () => {
      const affiliate = await newAffiliate('phoned')
      const args = { affiliate_id: affiliate.id, amount: 5, status: 'failed' }
      const payout = await world().make('/payouts', args)
      await world().work(
        `/payouts?filter={"affiliate_id":${affiliate.id}}`,
        async page => {
          await page.getByRole('button', { name: `Mark as paid: payout ${payout.id}` }).click()
          await page.getByText(`Payout ${payout.id} of $5.00 is paid now`).waitFor()
          assert.equal((await world().read(`/payouts/${payout.id}`)).status, 'paid')
        },
        { width: 360, height: 740 },
      )
    })

    test('a link that is followed before a filter applies - is not undone by it', async () => {
      await world().work('/payouts', async page => {
        const first = page
          .locator('tbody')
          .getByRole('link', { name: /^#\d+$/ })
          .first()
        await first.waitFor()
        await page.getByLabel('Method').pressSequentially('pay')
        await first.click()
        const form = page.getByRole('heading', { level: 1, name: /^Payout \d+/ })
        await form.waitFor()
        // Longer than filters wait for the next letter.
        await page.waitForTimeout(1500)
        assert.ok(await form.isVisible(), page.url())
        await page.goBack()
        await page.getByRole('heading', { level: 1, name: 'Payouts' }).waitFor()
      })
    })

    test('filters, totals, sort and CSV - agree with the API', async () => {
      const affiliate = await newAffiliate('filtered')
      for (const [amount, status, payout_method] of [
        [10.1, 'paid', 'paypal'],
        [20.2, 'paid', '=cmd()'],
        [30.3, 'failed', 'paypal'],
      ]) {
        await world().make('/payouts', { affiliate_id: affiliate.id, amount, status, payout_method })
      }
      await world().work('/payouts', async page => {
        await page.getByRole('combobox', { name: 'Affiliate' }).fill('filtered')
        await page.getByRole('option', { name: /filtered/ }).click()
        await page.getByText('1-3 of 3').waitFor()
        await settled(page)
        assert.deepEqual(await page.locator('dd').allInnerTexts(), [
          '3\n$60.60 in all',
          '$30.30\n2 payouts',
          '$30.30\n1 payout',
        ])
        const methods = ['PayPal', '=cmd()', 'PayPal']
        assert.deepEqual(await column(page, 'Method'), methods)
        const amounts = ['$10.10', '$20.20', '$30.30']
        for (const expected of [amounts.toReversed(), amounts]) {
          await page.getByRole('button', { name: 'Amount' }).click()
          await eventually(async () => assert.deepEqual(await column(page, 'Amount'), expected))
          const { text } = await downloaded(page, 'Export CSV')
          const inFile = [...text.matchAll(/\b[123]0\.[123]0\b/g)].map(([amount]) => `$${amount}`)
          assert.deepEqual(inFile, expected)
        }
        const { text } = await downloaded(page, 'Export CSV')
        assert.equal(text.trim().split('\r\n').length, 4)
        assert.ok(!/(^|[,"])=cmd/m.test(text), text)

        await page.getByLabel('Amount from').fill('20')
        await page.getByText('1-2 of 2').waitFor()
        await page.getByLabel('Status').click()
        await page.getByRole('option', { name: 'Paid' }).click()
        await page.getByText('1-1 of 1').waitFor()
        await page.getByLabel('Amount from').fill('much')
        await page.getByText('Enter digits alone, without blanks, signs or letters.').waitFor()
        assert.equal(await page.getByLabel('Amount from').inputValue(), 'much')
        // Others are applied none the less, and it is once it is an amount.
        await page.getByText('1-2 of 2').waitFor()
        await page.getByLabel('Status').click()
        await page.getByRole('option', { name: 'Failed' }).click()
        await page.getByText('1-1 of 1').waitFor()
        assert.equal(await page.getByLabel('Amount from').inputValue(), 'much')
        await page.getByLabel('Amount from').fill('')
        await page.getByLabel('Amount from').pressSequentially('40.0')
        await page.getByText('Nothing matches').waitFor()
        assert.equal(await page.getByLabel('Amount from').inputValue(), '40.0')

        // What a run calls its method is found by the name that the list shows.
        await world().make('/payouts', { affiliate_id: affiliate.id, amount: 1, payout_method: 'csv' })
        await goTo(page, `/payouts?filter={"affiliate_id":${affiliate.id}}`)
        await page.getByText('1-4 of 4').waitFor()
        await page.getByLabel('Method').pressSequentially('plain csv', { delay: 60 })
        await page.getByText('1-1 of 1').waitFor()
        assert.deepEqual(await column(page, 'Method'), ['Plain CSV'])
        assert.equal(await page.getByLabel('Method').inputValue(), 'plain csv')
      })
    })
  })
}
