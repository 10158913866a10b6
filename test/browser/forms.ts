import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { settled } from './pages.ts'
import { eventually, go, type World } from './world.ts'

export function formScenarios(world: () => World): void {
  /** What was asked on leaving a form; each question is answered with no. */
  const questionsOf = (page: Page): string[] => {
    const questions: string[] = []
    page.on('dialog', async dialog => {
      questions.push(dialog.message())
      await dialog.dismiss()
    })
    return questions
  }
  const cancel = (page: Page) => page.getByRole('button', { name: 'Cancel' }).click()

  describe('forms', () => {
    test('affiliate that is chosen and taken away at once - does not come back', () =>
      world().work('/referrals/create', async page => {
        const field = page.getByRole('combobox', { name: 'Affiliate' })
        await field.click()
        await page.getByRole('option').nth(2).waitFor()
        // Between both the page draws what the press has changed, and not yet what follows from that.
        const shown = await page.evaluate<string>(`(async () => {
          const input = document.activeElement
          document.querySelectorAll('[role=option]')[2].click()
          await null
          const { value } = input
          Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(input, '')
          input.dispatchEvent(new Event('input', { bubbles: true }))
          return value
        })()`)
        assert.match(shown, /#\d+/)
        await settled(page)
        await page.getByLabel('Amount').pressSequentially('5', { delay: 20 })
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText('Choose the affiliate who earned it.').waitFor()
        assert.equal(await field.inputValue(), '')
      }))

    test('form opened again after it was saved - keeps what is typed and chosen before the record is read', async () => {
      const affiliate_id = 1
      const { id } = await world().make('/payouts', { affiliate_id, amount: 5, status: 'failed' })
      await world().work(`/payouts/${id}`, async page => {
        const method = page.getByLabel('Method')
        await settled(page)
        const reads = Promise.withResolvers<void>()
        // Saving ends with a reading of its own; those after it are what the form is given next.
        let readsToCome = Number.POSITIVE_INFINITY
        const record = new RegExp(`/payouts/${id}$`)
        page.on('requestfinished', request => {
          if (request.method() === 'PATCH') readsToCome = 1
        })
        await page.route(record, async route => {
          if (route.request().method() === 'PATCH') return route.continue()
          readsToCome -= 1
          if (readsToCome < 0) await reads.promise
          return route.continue()
        })
        await method.pressSequentially('cheque')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText(`Payout ${id} saved`).waitFor()
        await page.getByRole('heading', { level: 1, name: 'Payouts' }).waitFor()
        await go(page, `/payouts/${id}`)
        await page.getByLabel('Status').click()
        await page.getByRole('option', { name: 'Paid' }).click()
        await method.press('End')
        await method.pressSequentially('s')
        const answer = page.waitForResponse(record)
        reads.resolve()
        await (await answer).finished()
        await settled(page)
        assert.equal(await method.inputValue(), 'cheques')
        const saved = page.waitForResponse(response => response.request().method() === 'PATCH')
        await page.getByRole('button', { name: 'Save' }).click()
        await saved
        const { status, payout_method } = await world().read(`/payouts/${id}`)
        assert.deepEqual([status, payout_method], ['paid', 'cheques'])
      })
    })

    test('left for a record whose number begins with its own - asks about what was typed', () =>
      world().work('/affiliates/1', async page => {
        const questions = questionsOf(page)
        const notes = page.getByLabel('Notes')
        await notes.pressSequentially('Not saved yet')
        await page.getByRole('button', { name: 'Search' }).click()
        await page.getByRole('combobox', { name: 'Search' }).pressSequentially('12', { delay: 60 })
        await page.getByRole('option', { name: /\.12@example\.com/ }).click()
        await eventually(async () => assert.equal(questions.length, 1))
        assert.equal(await notes.inputValue(), 'Not saved yet')
        await notes.fill('')
      }))

    test('record that is deleted while its form has unsaved input - leads to the list, and asks about nothing', async () => {
      const { id } = await world().make('/coupons', { code: 'DELETED', affiliate_id: 1 })
      await world().work(`/coupons/${id}`, async page => {
        const questions = questionsOf(page)
        await page.getByLabel('Campaign').pressSequentially('Not saved yet')
        await page.getByRole('button', { name: 'Delete' }).click()
        await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
        await page.getByRole('heading', { level: 1, name: 'Coupons' }).waitFor()
        assert.deepEqual(questions, [])
        // On the way back to that list, it is another form that is left.
        await page.getByRole('link', { name: 'WELCOME10' }).click()
        await page.getByLabel('Campaign').pressSequentially('Not saved yet')
        await page.goBack()
        await eventually(async () => assert.equal(questions.length, 1))
        await page.getByLabel('Campaign').fill('spring')
      })
    })

    test('affiliate whose name is typed - is chosen once it is found, and none that was there before', async () => {
      const { id } = await world().make('/affiliates', {
        create_user: true,
        username: 'foundlate',
        payment_email: 'foundlate@example.com',
      })
      // Newer than the one that is searched for, and first where nothing is.
      await world().make('/affiliates', { create_user: true, payment_email: 'notmeant@example.com' })
      await world().work('/payouts/create', async page => {
        const field = page.getByRole('combobox', { name: 'Affiliate' })
        await field.click()
        await page.getByRole('option', { name: /notmeant/ }).waitFor()
        const search = Promise.withResolvers<void>()
        await page.route(/search=foundlate/, async route => {
          await search.promise
          await route.continue()
        })
        const asked = page.waitForRequest(/search=foundlate/)
        await field.pressSequentially('foundlate')
        await field.press('Enter')
        await asked
        await field.press('Enter')
        assert.equal(await field.inputValue(), 'foundlate')
        assert.equal(await page.getByRole('option').count(), 0)
        assert.equal(await page.getByText('Choose the affiliate who was paid.').count(), 0)
        search.resolve()
        await page.getByRole('option', { name: /foundlate/ }).waitFor()
        await field.press('Enter')
        const isChosen = async () =>
          assert.match(await field.inputValue(), new RegExp(`^foundlate.* #${id} `))
        await eventually(isChosen)
        // What nobody is called chooses nobody, and does not send the form with the one before.
        await page.getByLabel('Amount').fill('3')
        await field.fill('nobody is called so')
        await page.getByText('Nothing matches.').waitFor()
        await field.press('Enter')
        await settled(page)
        assert.equal((await world().read(`/payouts?affiliate_id=${id}`)).length, 0)
        // Nor does Enter where nothing was typed.
        await field.fill('')
        await page.getByRole('option', { name: /notmeant/ }).waitFor()
        await field.press('Enter')
        await page.getByText('Choose the affiliate who was paid.').waitFor()
      })
    })

    test('Cancel - leads back to where one came from, and asks only when something was typed', () =>
      world().work('/affiliates/20/show', async page => {
        const questions = questionsOf(page)
        const heading = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor()
        const name = await page.getByRole('heading', { level: 1 }).innerText()
        await page.getByRole('link', { name: 'Record payout' }).click()
        const affiliate = page.getByRole('combobox', { name: 'Affiliate' })
        await eventually(async () => assert.match(await affiliate.inputValue(), / #20 /))
        await cancel(page)
        await heading(name)

        await page.getByRole('region', { name: 'Latest payouts' }).getByRole('link').first().click()
        const method = page.getByLabel('Method')
        await method.pressSequentially('x')
        await method.press('Backspace')
        await cancel(page)
        await heading(name)
        assert.deepEqual(questions, [])

        await page.getByRole('link', { name: 'Record payout' }).click()
        await page.getByLabel('Amount').pressSequentially('12')
        await cancel(page)
        await eventually(async () => assert.equal(questions.length, 1))
        assert.equal(await page.getByLabel('Amount').inputValue(), '12')

        // Who opened the form by its address comes to the list.
        page.removeAllListeners('dialog')
        page.on('dialog', dialog => dialog.accept())
        await page.goto('/admin/payouts/create')
        await page.getByLabel('Amount').waitFor()
        await cancel(page)
        await heading('Payouts')
      }))

    test('a day that is typed - has a year of four digits, wherever one is asked for', () =>
      world().work('/reports', async page => {
        const fields = [
          ['/reports', 'From'],
          ['/affiliates/1/show', 'At the end of'],
          ['/payout-runs/create', 'Cut-off'],
          ['/rules/create', 'Until'],
          ['/payouts/create', 'Paid at (UTC)'],
          ['/tools/api-keys', 'Expires'],
        ] as const
        for (const [path, label] of fields) {
          await page.goto(`/admin${path}`)
          await settled(page)
          if (label === 'Expires') await page.getByRole('button', { name: 'Generate API key' }).click()
          const field = page.getByRole('textbox', { name: label, exact: true })
          await field.fill('')
          await field.pressSequentially('10312025120000AM')
          assert.match(await field.inputValue(), /^(\d{4}-|$)/, path)
        }
      }))

    test('the time of what is recorded - emptied, it is asked for, and not saved as if something had changed', async () => {
      const rate = await world().make('/exchange-rates', { from_currency: 'NOK', rate: '0.1' })
      const payout = await world().make('/payouts', { affiliate_id: 22, amount: 1 })
      await world().work(`/exchange-rates/${rate.exchange_rate_id}`, async page => {
        const save = page.getByRole('button', { name: 'Save' })
        await page.getByLabel('Valid from').fill('')
        await save.click()
        await page.getByText('Type since when it is valid.').waitFor()
        await page.goto(`/admin/payouts/${payout.payout_id}`)
        await page.getByLabel('Paid at (UTC)').fill('')
        await save.click()
        await page.getByText('Enter when it was.').waitFor()
      })
      await world().api('DELETE', `/exchange-rates/${rate.exchange_rate_id}`)
      await world().api('DELETE', `/payouts/${payout.payout_id}`)
    })

    /** Has a record read again, and loses the answer. */
    const lose = async (page: Page, record: string) => {
      const address = new RegExp(`/admin/api${record}(\\?|$)`)
      await page.route(address, route => route.abort())
      await Promise.all([
        page.waitForEvent('requestfailed', request => address.test(request.url())),
        page.evaluate(`dispatchEvent(new StorageEvent('storage', { key: 'affiliated.session' }))`),
      ])
      await page.waitForTimeout(200)
      await page.unroute(address)
    }

    test('no answer when a record is read again - its form stays, with what was typed', async () => {
      const { payout_id } = await world().make('/payouts', { affiliate_id: 22, amount: 1 })
      const { user_id } = await world().read('/affiliates/22')
      const forms = {
        '/affiliates/22': 'Notes',
        [`/payouts/${payout_id}`]: 'Note',
        [`/users/${user_id}`]: 'First name',
      }
      await world().work('/', async page => {
        page.on('dialog', dialog => dialog.accept())
        for (const [path, label] of Object.entries(forms)) {
          await page.goto(`/admin${path}`)
          const field = page.getByLabel(label, { exact: true })
          await field.fill('Typed')
          await settled(page)
          await lose(page, path)
          assert.equal(await field.inputValue({ timeout: 1000 }), 'Typed', path)
        }
      })
      await world().api('DELETE', `/payouts/${payout_id}`)
    })

    test('no answer when the unpaid referrals are read again - those that are ticked stay, and can be read anew', async () => {
      const referral = { affiliate_id: 22, amount: 7, status: 'unpaid', reference: 'ticked' }
      const { referral_id } = await world().make('/referrals', referral)
      await world().work('/payouts/create?affiliate_id=22', async page => {
        page.on('dialog', dialog => dialog.accept())
        const box = page.getByRole('checkbox', { name: /ticked/ })
        await box.check()
        await settled(page)
        await lose(page, '/referrals')
        assert.equal(await box.isChecked(), true)
        await page.getByRole('button', { name: 'Try again' }).click()
        await page.getByText('No answer came').waitFor({ state: 'hidden' })
        assert.equal(await box.isChecked(), true)
        await page.goto('/admin')
      })
      await world().api('DELETE', `/referrals/${referral_id}`)
    })

    test('no answer when an affiliate is read again - the page says so, and stays with the question on it', () =>
      world().work('/affiliates/22/show', async page => {
        await page.getByRole('button', { name: 'Delete' }).click()
        const question = page.getByRole('alertdialog')
        await question.waitFor()
        await settled(page)
        await lose(page, '/affiliates/22')
        await page.getByText('No answer came from the server').first().waitFor()
        assert.equal(await question.count(), 1)
      }))

    test('a record that is read again while its form is open - keeps what was typed, and shows what others have changed', () =>
      world().work('/affiliates/21/show', async page => {
        const { rate } = await world().read('/affiliates/21')
        await page.getByRole('heading', { level: 1 }).waitFor()
        const typed = Promise.withResolvers<void>()
        await page.route(/affiliates\/21\?/, async route => {
          await typed.promise
          await route.continue()
        })
        await page.getByRole('link', { name: 'Edit' }).click()
        const notes = page.getByLabel('Notes')
        await notes.fill('')
        await notes.pressSequentially('Typed')
        await world().api('PATCH', '/affiliates/21', { rate: '31.25', notes: 'Of others' })
        typed.resolve()
        const field = page.getByLabel('Rate', { exact: true })
        await eventually(async () => assert.equal(await field.inputValue(), '31.25'))
        assert.equal(await notes.inputValue(), 'Typed')
        await notes.pressSequentially(' here')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText('Typed here').waitFor()
        const stored = await world().read('/affiliates/21')
        assert.equal(stored.rate, '31.25')
        await world().api('PATCH', '/affiliates/21', { rate })
      }))

    test('what is pressed while a form is saved - changes nothing, as it would be neither sent nor kept', () =>
      world().work('/settings', async page => {
        const sent = Promise.withResolvers<void>()
        const answered = Promise.withResolvers<void>()
        await page.route('**/admin/api/settings', async route => {
          if (route.request().method() === 'PATCH') {
            sent.resolve()
            await answered.promise
          }
          await route.continue()
        })
        const bank = page.getByLabel('Bank', { exact: true })
        await bank.fill('First Bank')
        await bank.press('Enter')
        await sent.promise
        const focused = () => page.evaluate('document.activeElement.textContent')
        await eventually(async () => assert.equal(await focused(), 'Save'))
        await page.getByLabel('Company identification').click({ force: true })
        await page.keyboard.type('Later')
        answered.resolve()
        await page.getByText('Settings saved').waitFor()
        assert.equal(await bank.inputValue(), 'First Bank')
        assert.equal(await page.getByLabel('Company identification').inputValue(), '')
        const headers = { 'x-admin-request': '1' }
        await page.request.patch('/admin/api/settings', { headers, data: { payer_bank: '' } })
      }))

    test('left while it is saved - the answer is told, and takes nobody away from the next form', () =>
      world().work('/affiliates/22', async page => {
        const answers = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
        const [saved, refused] = answers
        let sent = 0
        await page.route(/affiliates\/22$/, async route => {
          if (route.request().method() === 'PATCH') await answers[sent++]!.promise
          await route.continue()
        })
        const questions: string[] = []
        page.on('dialog', async dialog => {
          questions.push(dialog.message())
          await dialog.accept()
        })
        const saveAndLeave = async () => {
          await page.getByRole('button', { name: 'Save' }).click()
          await page.locator('[inert]').first().waitFor()
          await page.getByRole('link', { name: 'Payouts', exact: true }).click()
          await page.getByRole('link', { name: 'Record payout' }).click()
          await page.getByRole('heading', { level: 1, name: 'Record payout' }).waitFor()
          await page.getByLabel('Amount').pressSequentially('12')
        }
        const isStillTyped = async () => {
          assert.equal(await page.getByLabel('Amount').inputValue(), '12')
          assert.match(page.url(), /payouts\/create$/)
        }
        await page.getByLabel('Notes').fill('Slowly saved')
        await saveAndLeave()
        saved!.resolve()
        await page.getByText('Affiliate saved').waitFor()
        await isStillTyped()
        assert.equal(questions.length, 1)
        assert.match(questions[0]!, /is saved yet/)
        const stored = await page.request.get('/admin/api/affiliates/22/notes')
        assert.equal((await stored.json()).notes, 'Slowly saved')

        await page.goto('/admin/affiliates/22')
        await page.getByLabel('Account e-mail').fill('admin@example.com')
        await saveAndLeave()
        refused!.resolve()
        await page.getByText('Affiliate not saved. Another account has this e-mail address.').waitFor()
        await isStillTyped()
      }))

    test('settings saved and changed back - are what the form shows, though no answer came between', () =>
      world().work('/settings', async page => {
        let isSaved = false
        await page.route('**/admin/api/settings', route => {
          isSaved ||= route.request().method() === 'PATCH'
          return isSaved && route.request().method() === 'GET' ? route.abort() : route.continue()
        })
        const bank = page.getByLabel('Bank', { exact: true })
        const save = async () => {
          await page.getByRole('button', { name: 'Save' }).click()
          await page.getByText('Settings saved').waitFor()
        }
        await bank.fill('Wrong Bank')
        await save()
        await page.unrouteAll({ behavior: 'wait' })
        await bank.fill('')
        await save()
        const read = async () => (await page.request.get('/admin/api/settings')).json()
        await eventually(async () => assert.equal((await read()).payer_bank, ''))
      }))

    test('what the server refuses - is said once, at the field, which has the focus', () =>
      world().work('/affiliates/create', async page => {
        await page.getByLabel('Login name').fill('new/name')
        await page.getByLabel('Payment e-mail').fill('nonsense')
        await page.getByRole('button', { name: 'Save' }).click()
        const alert = page.getByRole('alert')
        await alert.getByText('Not saved: see the message at the field.').waitFor()
        const text = await page.locator('main').innerText()
        assert.equal(text.match(/valid e-mail address/g)?.length, 1, text)
        assert.equal(text.match(/letters, digits, space/g)?.length, 1, text)
        assert.doesNotMatch(text, /payment_email|username:|argument/)
        assert.equal(await page.evaluate('document.activeElement.name'), 'payment_email')

        await page.getByLabel('Payment e-mail').fill('admin@example.com')
        await page.getByLabel('Login name').fill('')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText('Another account has this e-mail address.').waitFor()

        await page.goto('/admin/payouts/3')
        await page.getByLabel('Referrals').fill('4, five')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText('Separate the numbers with commas').waitFor()
      }))

    test('what the server refuses of no single field - is saved once it is corrected', () =>
      world().work('/rules/create', async page => {
        await page.getByLabel('Name').fill('Excluded')
        await page.getByRole('textbox', { name: 'Rate', exact: true }).fill('3')
        for (const values of ['AT', 'DE']) {
          await page.getByRole('button', { name: 'Add condition' }).click()
          await page.getByRole('combobox', { name: 'Of the sale' }).last().click()
          await page.getByRole('option', { name: 'Country' }).click()
          await page.getByLabel('Values').last().fill(values)
        }
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByRole('alert').getByText('exclude each other').waitFor()
        await page.getByRole('button', { name: 'Remove condition 2' }).click()
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText(/Rule \d+ created/).waitFor()
        const [rule] = await world().read('/rules?search=Excluded')
        await world().api('DELETE', `/rules/${rule.id}`)
      }))

    test('day or time typed in part - is not taken for an empty field, and can be completed or emptied', async () => {
      const inPart = 'Filled in only in part: complete it, or empty it.'
      await world().work('/payout-runs/create', async page => {
        const cutOff = page.getByLabel('Cut-off')
        await cutOff.pressSequentially('1130')
        await page.getByRole('button', { name: 'Prepare' }).click()
        await page.getByText(inPart).waitFor()
        await page.getByText('Not saved. Look at Cut-off.').waitFor()
        await cutOff.pressSequentially('11302019')
        await page.getByRole('button', { name: 'Prepare' }).click()
        await page.getByRole('heading', { level: 1, name: /^Payout run \d+$/ }).waitFor()
        await page.getByText('Nov 30, 2019, 11:59 PM UTC').first().waitFor()
      })
      const { id } = await world().make('/affiliates', {
        create_user: true,
        payment_email: 'inpart@example.com',
      })
      await world().work(`/payouts/create?affiliate_id=${id}`, async page => {
        const paidAt = page.getByLabel('Paid at (UTC)')
        await page.getByLabel('Amount').fill('5')
        await paidAt.pressSequentially('11302025')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText(inPart).waitFor()
        await paidAt.fill('')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText(/^Payout \d+ recorded/).waitFor()
      })
      await world().work('/tools/api-keys', async page => {
        await page.getByRole('button', { name: 'Generate API key' }).click()
        await page.getByLabel('Name', { exact: true }).fill('until new year')
        await page.getByLabel('Expires').pressSequentially('1231')
        await page.getByRole('button', { name: 'Generate', exact: true }).click()
        await page.getByText(inPart).waitFor()
        await page.getByLabel('Expires').fill('2099-12-31')
        await page.getByRole('button', { name: 'Generate', exact: true }).click()
        await page.getByLabel('Token').waitFor()
        await page.getByRole('button', { name: 'Done' }).click()
        await page.getByText('Dec 31, 2099').first().waitFor()
      })
    })
  })
}
