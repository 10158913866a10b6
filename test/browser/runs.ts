import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { dayFromNow } from '../harness.ts'
import { column, downloaded } from './affiliates.ts'
import { goTo, settled } from './pages.ts'
import { eventually, type World } from './world.ts'

export function runScenarios(world: () => World): void {
  /** An approved run with one payment, to a new affiliate. @param amount larger than what anybody else is owed */
  async function approved(name: string, amount: number) {
    const account = { create_user: true, payment_email: `${name}@example.com`, status: 'active' }
    const { id } = await world().make('/affiliates', account)
    await world().make('/referrals', { affiliate_id: id, amount, status: 'unpaid' })
    const run = await world().make('/payout-runs', { minimum: amount })
    await world().api('POST', `/payout-runs/${run.id}/approve`, { hash: run.hash })
    const [item] = await world().read(`/run-items?payout_run_id=${run.id}&affiliate_id=${id}`)
    return { run, item }
  }

  describe('payout runs', () => {
    test('prepare, approve, download, hand over, read results, close', async () => {
      const { id } = await world().make('/affiliates', {
        create_user: true,
        username: 'runpayee',
        payment_email: 'runpayee@example.com',
        status: 'active',
      })
      const { referral_id: referral } = await world().make('/referrals', {
        affiliate_id: id,
        amount: 123_456,
        status: 'unpaid',
      })
      await world().work('/payout-runs', async page => {
        await page.getByRole('link', { name: 'Prepare payout run' }).first().click()
        await page.getByLabel('Minimum').fill('123456')
        await page.getByLabel('Note').fill('October')
        await page.getByLabel('Method').click()
        // SEPA is for EUR, and the programme is in USD.
        assert.deepEqual(await page.getByRole('option').allInnerTexts(), ['Plain CSV', 'PayPal', 'ACH'])
        await page.getByRole('option', { name: 'Plain CSV' }).click()
        await page.getByRole('button', { name: 'Prepare' }).click()
        await page.getByRole('heading', { level: 1, name: /^Payout run \d+$/ }).waitFor()
        const run = Number(page.url().match(/payout-runs\/(\d+)\/show/)![1])
        await page.getByText('Would be paid').waitFor()
        await page.getByRole('region', { name: 'Details' }).getByRole('link', { name: 'admin' }).waitFor()
        await page.getByText('Below minimum').first().waitFor()
        await page.getByRole('button', { name: 'Approve' }).click()
        // The network is away, and comes back: the page and the question stay.
        const question = page.getByRole('alertdialog')
        const ofRun = /\/admin\/api\/payout-runs\//
        await page.route(ofRun, route => route.abort())
        await question.getByRole('button', { name: 'Approve' }).click()
        await question.getByText(/^No answer came from the server/).waitFor()
        await page.getByText('Try again', { exact: true }).first().waitFor()
        await page.getByText('Would be paid').waitFor()
        await page.unroute(ofRun)
        await question.getByRole('button', { name: 'Approve' }).click()
        const files = page.getByRole('region', { name: 'Files', exact: true })
        // The button that was pressed is gone: who has no mouse goes on at the heading.
        await page.locator('h1:focus').waitFor()
        const methods: string[] = []
        await page.route(/\/files\/csv/, route => {
          methods.push(route.request().method())
          return methods.length === 1 ? route.abort() : route.continue()
        })
        await files.getByRole('link', { name: 'Download Plain CSV' }).click()
        await page.getByText('No answer came from the server. Try again in a moment.').waitFor()
        const file = await downloaded(page, 'Download Plain CSV')
        assert.equal(file.name, `payout-run-${run}-csv.csv`)
        assert.match(file.text, /123456\.00/)
        await files.getByRole('cell', { name: / UTC/ }).first().waitFor()
        // Each time, its payments are compared with what was approved.
        assert.deepEqual(methods, ['GET', 'GET'])
        await files.getByRole('button', { name: 'Handed over: Plain CSV' }).click()
        await page.getByRole('alertdialog').getByRole('button', { name: 'It was handed over' }).click()
        await page.getByText('File handed over', { exact: true }).waitFor()
        await page.getByRole('button', { name: 'Close', exact: true }).last().click()
        const tooEarly = page.getByRole('alertdialog')
        await tooEarly.getByText(/^The outcome of 1 payment is not recorded yet/).waitFor()
        assert.ok(await tooEarly.getByRole('button', { name: 'Close' }).isDisabled())
        // Until the outcomes are read, nothing is said of them.
        const read = Promise.withResolvers<void>()
        const outcomes = /\/reconciliation$/
        await page.route(outcomes, async route => {
          await read.promise
          await route.continue()
        })
        await page.reload()
        await page.getByRole('button', { name: 'Close', exact: true }).last().click()
        await tooEarly.getByText('The outcomes are being read.').waitFor()
        assert.ok(await tooEarly.getByRole('button', { name: 'Close' }).isDisabled())
        read.resolve()
        await tooEarly.getByText(/^The outcome of 1 payment is not recorded yet/).waitFor()
        await page.unroute(outcomes)
        await tooEarly.getByRole('button', { name: 'Cancel' }).click()
        const { reference, status } = await world().read(`/payout-runs/${run}`)
        await page.getByRole('combobox', { name: 'Format' }).click()
        await page.getByRole('option', { name: 'Bank answer (pain.002)' }).click()
        const results = {
          name: 'results.csv',
          mimeType: 'text/csv',
          buffer: Buffer.from(`reference,status\n${reference}A${id},paid\n`),
        }
        await page.evaluate(() => {
          const { text } = Blob.prototype
          // As where the file was moved meanwhile.
          Blob.prototype.text = () => {
            Blob.prototype.text = text
            return Promise.reject(new DOMException('', 'NotFoundError'))
          }
        })
        const choosing = page.waitForEvent('filechooser')
        await page.getByRole('button', { name: 'Choose file' }).press('Enter')
        await (await choosing).setFiles(results)
        await page.getByText('The file cannot be read: choose it again.').waitFor()
        await page.getByLabel('File of results').setInputFiles(results)
        // The file need not be chosen again.
        await page.getByText(/^The file /).waitFor()
        await page.getByRole('combobox', { name: 'Format' }).click()
        await page.getByRole('option', { name: 'CSV: reference, status, note' }).click()
        await page.getByText(/results\.csv would record: 1 paid/).waitFor()
        // The answer about another kind, which was chosen by mistake, comes last.
        const chosen = Promise.withResolvers<void>()
        await page.route(/\/results$/, async route => {
          if (route.request().postDataJSON().format === 'nacha') await chosen.promise
          await route.continue()
        })
        const late = page.waitForResponse(answer => answer.status() === 400)
        for (const name of ['ACH returns (Nacha)', 'CSV: reference, status, note']) {
          await page.getByRole('combobox', { name: 'Format' }).click()
          await page.getByRole('option', { name }).click()
        }
        await page.getByText(/results\.csv would record: 1 paid/).waitFor()
        chosen.resolve()
        await (await late).finished()
        await settled(page)
        assert.equal(await page.getByText(/^The file /).count(), 0)
        assert.equal(status, 'sent')
        await page.getByRole('button', { name: 'Record', exact: true }).click()
        await page.getByText('1 paid; 0 recorded before', { exact: true }).waitFor()
        await page.getByRole('button', { name: 'Close', exact: true }).last().click()
        await page.getByRole('alertdialog').getByRole('button', { name: 'Close' }).click()
        await page.getByText(`Payout run ${run} closed`).waitFor()
        const history = page.getByRole('region', { name: 'History' })
        await history.getByText('Payout run closed').waitFor()
        // The comparison, the payees, and the end.
        assert.equal(await history.getByText('reserved earnings').count(), 1)
        assert.match(await history.innerText(), /done: 0 → 1\n/)
        await history.getByText('results.csv (csv): 1 paid').waitFor()
        const { earnings, unpaid_earnings } = await world().read(`/affiliates/${id}`)
        assert.deepEqual([earnings, unpaid_earnings], [123_456, 0])

        // What the run has paid can only turn out to have failed, and then it is nobody's to mark.
        await page
          .getByRole('region', { name: 'Payees' })
          .getByRole('link', { name: /^#\d+$/ })
          .first()
          .click()
        const details = page.getByRole('region', { name: 'Details' })
        await details.getByText(`Payout run #${run}`).waitFor()
        await details.getByRole('link', { name: `#${referral}` }).waitFor()
        await history.getByText(/^date: (?!\d)/).waitFor()
        await history.getByText(`paid by: payout run #${run}, payment ${reference}A${id}`).waitFor()
        await history.getByText(/^affiliate: (?!\d)/).waitFor()
        await history.getByText(/^owner: (?![#\d])/).waitFor()
        assert.equal(await page.getByLabel('Amount').count(), 0)
        await page.getByLabel('Status').click()
        await page.getByRole('option', { name: 'Failed' }).click()
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText(/Payout \d+ saved/).waitFor()
        const [item] = await world().read(`/run-items?payout_run_id=${run}&affiliate_id=${id}`)
        assert.equal(item.status, 'returned')
        await goTo(page, `/payouts/${item.payout_id}`)
        await details.getByText(/^Returned/).waitFor()
        await details.getByText('Failed at').waitFor()
        await details.getByText(item.reference).waitFor()
        await goTo(page, '/')
        await page
          .getByRole('region', { name: 'Failed payouts' })
          .getByRole('listitem')
          .filter({ has: page.getByRole('link', { name: `#${item.payout_id}`, exact: true }) })
          .getByText('A payout run can pay it')
          .waitFor()
        await page.keyboard.press('/')
        await page.getByRole('combobox', { name: 'Search' }).pressSequentially(item.reference, { delay: 60 })
        // Before the last letter is typed, others begin alike.
        const found = page.getByRole('option')
        await eventually(async () => assert.equal(await found.count(), 1))
        await found.filter({ hasText: `#${run}` }).click()
        await page.getByRole('heading', { level: 1, name: `Payout run ${run}` }).waitFor()

        const next = await world().make('/payout-runs', { minimum: 123_456 })
        await world().api('POST', `/payout-runs/${next.id}/approve`, { hash: next.hash })
        await goTo(page, `/referrals/${referral}/show`)
        await details.getByText(`Payout run #${next.id}. Until that has an outcome`).waitFor()
        assert.equal(await page.getByRole('link', { name: 'Edit' }).count(), 0)
        await goTo(page, `/affiliates/${id}/ledger`)
        await page.getByText(`Reserved by payout run #${next.id}`).waitFor()
        await page.getByRole('table', { name: 'Balances' }).getByRole('link', { name: 'Reserved' }).click()
        await page.waitForURL(/\/referrals\?.*in_run%22%3A%22yes/)
        await eventually(async () => assert.equal(await page.locator('tbody tr').count(), 1))
        await goTo(page, `/affiliates/${id}/show`)
        await page.getByRole('link', { name: 'Record payout' }).click()
        await page.getByLabel('Amount').pressSequentially('5')
        const reserved = String.raw`\$[\d,.]+ stays owed, and an approved payout run pays \$[\d,.]+ of it`
        await page.getByText(new RegExp(`No referral is ticked: ${reserved}`)).waitFor()

        // What cannot be cancelled any more is not said to be cancelled no longer.
        const asked = async () => {
          await goTo(page, `/payout-runs/${next.id}/show`)
          await files.getByRole('button', { name: 'Handed over: Plain CSV' }).click()
          const dialog = page.getByRole('alertdialog')
          await dialog.getByText('Record what becomes of each payment once it is known.').waitFor()
          const warnings = await dialog.getByText('From now on the run cannot be cancelled.').count()
          await dialog.getByRole('button', { name: 'Cancel' }).click()
          return warnings
        }
        assert.equal(await asked(), 1)
        const allPaid = page.getByRole('button', { name: 'All others were paid' })
        await allPaid.click()
        await page.getByText(/All others paid would record: 1 paid/).waitFor()
        await page.getByRole('button', { name: 'Record', exact: true }).click()
        await page.getByText('1 paid; 0 recorded before', { exact: true }).waitFor()
        await allPaid.click()
        await page.getByText(/All others paid would record: Nothing new/).waitFor()
        await history.getByText('All others paid (csv): 1 paid').waitFor()
        assert.equal(await asked(), 0)
        // The payment is found by what stands on the bank's statement.
        await goTo(page, '/payouts')
        await page.getByLabel('Reference').pressSequentially(`${reference}A${id}`)
        await eventually(async () => assert.equal(await page.locator('tbody tr').count(), 1))
      })
    })

    test('with two persons - who has prepared a run is told that another one approves it, who then does', () =>
      world().work('/payout-runs', async page => {
        const ask = (method: string, path: string, data: object) =>
          page.request.fetch(`/admin/api${path}`, { method, headers: { 'x-admin-request': '1' }, data })
        const colleague = { login: 'colleague', password: 'the second of two' }
        await ask('POST', '/users', { ...colleague, email: 'colleague@example.com', role: 'bookkeeper' })
        const { id } = await world().make('/affiliates', {
          create_user: true,
          payment_email: 'twopersons@example.com',
          status: 'active',
        })
        await world().make('/referrals', { affiliate_id: id, amount: 234_567, status: 'unpaid' })
        const earlier = await world().make('/payout-runs', { minimum: 234_567 })
        assert.equal(earlier.approval, 'one')
        assert.equal((await ask('PATCH', '/settings', { approval: 'two' })).status(), 200)
        try {
          // What was prepared by one person's setting takes two by now.
          await goTo(page, `/payout-runs/${earlier.id}/show`)
          await page.getByText('Somebody else has to approve it: you prepared it.').waitFor()
          await page.getByText('Two people').waitFor()
          assert.equal(await page.getByRole('button', { name: 'Approve' }).count(), 0)
          await goTo(page, '/payout-runs')
          await page.getByRole('link', { name: 'Prepare payout run' }).first().click()
          await page.getByLabel('Minimum').fill('234567')
          await page.getByRole('button', { name: 'Prepare' }).click()
          await page.getByText('Two people').waitFor()
          const path = page.url().match(/\/payout-runs\/\d+/)![0]
          await page.getByText('Somebody else has to approve it: you prepared it.').waitFor()
          assert.equal(await page.getByRole('button', { name: 'Approve' }).count(), 0)
          const { hash, status } = await world().read(path)
          assert.equal(status, 'draft')
          // The key belongs to the same account.
          assert.equal((await world().api('POST', `${path}/approve`, { hash })).status, 403)

          await page.context().clearCookies()
          await page.goto(`/admin${path}/show`)
          await page.getByLabel('Login').fill(colleague.login)
          await page.getByLabel('Password', { exact: true }).fill(colleague.password)
          await page.getByRole('button', { name: 'Log in' }).click()
          const details = page.getByRole('region', { name: 'Details' })
          await details.getByText('admin', { exact: true }).waitFor()
          await page.getByRole('button', { name: 'Approve' }).click()
          await world().make('/referrals', { affiliate_id: id, amount: 1, status: 'unpaid' })
          assert.equal((await world().api('POST', path, {})).status, 200)
          await page.getByRole('alertdialog').getByRole('button', { name: 'Approve' }).click()
          await page.getByText('The run was prepared again since you opened it.').waitFor()
          await page.getByRole('alertdialog').getByRole('button', { name: 'Approve' }).click()
          await page.getByText(/^Payout run \d+ approved$/).waitFor()
          await page.getByRole('region', { name: 'Files', exact: true }).waitFor()
          await settled(page)
          assert.equal(await page.getByText('The run was prepared again since you opened it.').count(), 0)
          assert.equal((await world().read(path)).status, 'approved')
        } finally {
          await world().work('/settings', other =>
            other.request
              .patch('/admin/api/settings', {
                headers: { 'x-admin-request': '1' },
                data: { approval: 'one' },
              })
              .then(reply => assert.equal(reply.status(), 200)),
          )
        }
      }))

    test('approval that is refused - the question says by name, as the page does, what has changed', async () => {
      const { id } = await world().make('/affiliates', {
        create_user: true,
        username: 'earnsmore',
        payment_email: 'earnsmore@example.com',
        status: 'active',
      })
      const owe = (amount: number) =>
        world().make('/referrals', { affiliate_id: id, amount, status: 'unpaid' })
      await owe(456_789)
      const run = await world().make('/payout-runs', { minimum: 456_789 })
      await world().work(`/payout-runs/${run.id}/show`, async page => {
        await page.getByRole('button', { name: 'Approve' }).click()
        await owe(1)
        const question = page.getByRole('alertdialog')
        await question.getByRole('button', { name: 'Approve' }).click()
        const changed =
          /earnsmore is owed another amount, or for other referrals: 456790.00 USD for 2 referrals, where it was 456789.00 USD/
        await question.getByText(changed).waitFor()
        await question.getByRole('link', { name: 'earnsmore' }).waitFor()
        await question.getByRole('button', { name: 'Cancel' }).click()
        await page.getByText(changed).waitFor()

        // The question goes with its button, and not without a word.
        await page.getByRole('button', { name: 'Approve' }).click()
        assert.equal((await world().api('POST', `/payout-runs/${run.id}/cancel`)).status, 200)
        await question.getByRole('button', { name: 'Approve' }).click()
        await page.getByText('A run that is cancelled cannot be approved.').waitFor()
        await question.waitFor({ state: 'detached' })
      })
    })

    test('cancelled as the draft that it was - is not, once somebody else has approved it; asked anew, it is', async () => {
      const { id } = await world().make('/affiliates', {
        create_user: true,
        payment_email: 'cancelledlate@example.com',
        status: 'active',
      })
      await world().make('/referrals', { affiliate_id: id, amount: 345_678, status: 'unpaid' })
      const run = await world().make('/payout-runs', { minimum: 345_678 })
      await world().work(`/payout-runs/${run.id}/show`, async page => {
        await page.getByRole('button', { name: 'Cancel run' }).click()
        const question = page.getByRole('alertdialog')
        const confirm = question.getByRole('button', { name: 'Cancel run' })
        const approval = await world().api('POST', `/payout-runs/${run.id}/approve`, { hash: run.hash })
        assert.equal(approval.status, 200)
        await confirm.click()
        await question.getByText('The run is approved by now: look at it again').waitFor()
        const isSure = question.getByLabel('No downloaded file has gone to a bank or to PayPal')
        await isSure.waitFor()
        assert.ok(await confirm.isDisabled())
        assert.equal((await world().read(`/payout-runs/${run.id}`)).status, 'approved')
        await isSure.check()
        await confirm.click()
        await page.getByText(`Payout run ${run.id} cancelled`).waitFor()
      })
      assert.equal((await world().read(`/payout-runs/${run.id}`)).status, 'cancelled')
    })

    test('outcome that somebody else has recorded meanwhile - is told, although the question goes with its button', async () => {
      const { run, item } = await approved('recordedlate', 567_890)
      await world().work(`/payout-runs/${run.id}/show`, async page => {
        await page.getByRole('button', { name: `Outcome of ${item.reference}` }).click()
        await page.getByRole('combobox', { name: 'Outcome' }).and(page.locator(':focus')).waitFor()
        const question = page.getByRole('alertdialog')
        await question.getByLabel('Outcome').click()
        await page.getByRole('option', { name: 'Paid' }).click()
        const other = await world().api('POST', `/run-items/${item.id}`, { status: 'failed' })
        assert.equal(other.status, 200)
        await question.getByRole('button', { name: 'Record' }).click()
        await question.waitFor({ state: 'detached' })
        await page.getByText('The item is failed, and cannot become paid.').waitFor()
      })
    })

    test('tablet that is turned while an outcome is recorded - the question stays, with the note', async () => {
      const { run, item } = await approved('turned', 678_901)
      await world().work(`/payout-runs/${run.id}/show`, async page => {
        const outcome = page.getByRole('button', { name: `Outcome of ${item.reference}` })
        const question = page.getByRole('alertdialog')
        const note = question.getByLabel('Note')
        const portrait = { width: 800, height: 1200 }
        await outcome.click()
        await note.fill('Told by telephone')
        await page.setViewportSize(portrait)
        await page.waitForTimeout(500)
        assert.equal(await note.inputValue(), 'Told by telephone')
        await page.keyboard.press('Escape')
        await question.waitFor({ state: 'detached' })
        await page.getByRole('table', { name: 'Payees' }).waitFor({ state: 'detached' })
        await outcome.click()
        await note.fill('Told by telephone again')
        await page.keyboard.press('Escape')
        await question.waitFor({ state: 'detached' })
        await outcome.click()
        assert.equal(await note.inputValue(), 'Told by telephone again')
        await page.setViewportSize({ width: portrait.height, height: portrait.width })
        await page.waitForTimeout(500)
        await question.getByLabel('Outcome').click()
        await page.getByRole('option', { name: 'Paid' }).click()
        await question.getByRole('button', { name: 'Record' }).click()
        await page.getByRole('table', { name: 'Payees' }).waitFor()
      })
      const { status, note } = await world().read(`/run-items/${item.id}`)
      assert.deepEqual([status, note], ['paid', 'Told by telephone again'])
    })

    test('prepared again after it was cancelled - the time of the cut-off stays, unless another day is chosen', async () => {
      const run = await world().make('/payout-runs', { cut_off: '2026-10-30 12:00:00', minimum: 999_999 })
      await world().api('POST', `/payout-runs/${run.id}/cancel`)
      for (const [day, cutOff] of [
        [undefined, '2026-10-30 12:00:00'],
        ['2026-10-31', '2026-10-31 23:59:59'],
      ] as const) {
        await world().work(`/payout-runs/${run.id}/show`, async page => {
          await page.getByRole('link', { name: 'Prepare again' }).click()
          await page.getByText(/^Until .* UTC; the whole of another day/).waitFor()
          if (day !== undefined) await page.getByLabel('Cut-off').fill(day)
          await page.getByRole('button', { name: 'Prepare' }).click()
          await page.getByRole('heading', { level: 1, name: /^Payout run \d+$/ }).waitFor()
          await page.getByText('Would be paid', { exact: true }).waitFor()
          const path = page.url().match(/\/payout-runs\/\d+/)![0]
          assert.equal((await world().read(path)).cut_off, cutOff)
          await world().api('POST', `${path}/cancel`)
        })
      }
    })

    test('execution date that is typed - is asked for only where a file has it, and is read before the approval', async () => {
      const payer = {
        payer_name: 'SHOP INC',
        payer_bank: 'FIRST BANK',
        payer_routing: '021000021',
        payer_company_id: '1234567890',
      }
      const admin = await world().administrator()
      assert.equal((await admin.patch('/settings', payer)).status, 200)
      const { id } = await world().make('/affiliates', {
        create_user: true,
        payment_email: 'dated@example.com',
        status: 'active',
      })
      await world().make('/referrals', { affiliate_id: id, amount: 789_012, status: 'unpaid' })
      const account = { routing_number: '091000019', account_number: '1234', holder: 'Dated' }
      await world().make('/payment-details', { affiliate_id: id, method: 'nacha', ...account })
      const chosen = dayFromNow(30)
      const typed = (day: string) => day.replace(/^(\d+)-(\d+)-(\d+)$/, '$2$3$1')
      const written = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' })
      const day = (page: Page) => page.getByLabel('Execution date')
      const choose = async (page: Page, method: string) => {
        await page.getByLabel('Method').click()
        await page.getByRole('option', { name: method }).click()
      }
      const prepared = async (page: Page) => {
        await page.getByRole('button', { name: 'Prepare' }).click()
        await page.getByRole('heading', { level: 1, name: /^Payout run \d+$/ }).waitFor()
        await page.getByText('Would be paid', { exact: true }).waitFor()
        return world().read(page.url().match(/\/payout-runs\/\d+/)![0])
      }
      await world().work('/payout-runs/create', async page => {
        await page.getByLabel('Minimum').fill('789012')
        await page.getByText('A table of payees and amounts').waitFor()
        assert.equal(await day(page).count(), 0)
        await choose(page, 'ACH')
        await day(page).pressSequentially(typed(dayFromNow(-1)), { delay: 30 })
        await page.getByRole('button', { name: 'Prepare' }).click()
        await page.getByText(/^Must be from \d{4}-\d\d-\d\d, which is today in UTC/).waitFor()
        await day(page).pressSequentially(typed(chosen), { delay: 30 })
        const run = await prepared(page)
        assert.equal(run.execution_date, chosen)
        const details = page.getByRole('region', { name: 'Details' })
        await details.getByText(written.format(Date.parse(chosen))).waitFor()
        await page.getByText(`execution date: ${written.format(Date.parse(chosen))}`).waitFor()
        await page.getByRole('button', { name: 'Approve' }).click()
        const question = page.getByRole('alertdialog')
        await question
          .getByText(`The file asks the bank to pay on ${written.format(Date.parse(chosen))}, or`)
          .waitFor()
        await question.getByRole('button', { name: 'Approve' }).click()
        await page.getByText(`Payout run ${run.id} approved`).waitFor()
        await world().api('POST', `/payout-runs/${run.id}/cancel`, { not_handed_over: true })

        // By another method, nobody is asked to pay on a day.
        await goTo(page, `/payout-runs/${run.id}/show`)
        await page.getByRole('link', { name: 'Prepare again' }).click()
        assert.equal(await day(page).inputValue(), chosen)
        await choose(page, 'Plain CSV')
        await day(page).waitFor({ state: 'detached' })
        const plain = await prepared(page)
        assert.deepEqual([plain.method, plain.execution_date], ['csv', ''])
        await world().api('POST', `/payout-runs/${plain.id}/cancel`)
      })
      // Other scenarios begin without a payer.
      const none = Object.fromEntries(Object.keys(payer).map(name => [name, '']))
      assert.equal((await admin.patch('/settings', none)).status, 200)
    })

    test('payment details are entered on the page of the affiliate, and only their end can be read', async () => {
      const { id } = await world().make('/affiliates', {
        create_user: true,
        payment_email: 'detailed@example.com',
      })
      await world().work(`/affiliates/${id}/show`, async page => {
        // What comes later above the link would move it between the press and its end.
        await settled(page)
        await page
          .getByRole('region', { name: 'Payment details' })
          .getByRole('link', { name: 'Enter' })
          .click()
        await page.getByLabel('Method').click()
        await page.getByRole('option', { name: 'SEPA: IBAN' }).click()
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByRole('alert').getByText('Not saved. Look at IBAN, Holder.').waitFor()
        await page.getByLabel('IBAN').fill('DE89 3704 0044 0532 0130 01')
        await page.getByLabel('Holder').fill('Ada Lovelace')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText(/check digits are right/).waitFor()
        await page.getByLabel('IBAN').fill('DE89 3704 0044 0532 0130 00')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText('DE •••• 3000').first().waitFor()
        assert.doesNotMatch(await page.content(), /37040044/)
      })
    })

    test('notes of the service on payees - have their amounts as the reader writes them, those of a bank as it did', async () => {
      const owed = async (amount: number) => {
        const { affiliate_id: id } = await world().make('/affiliates', {
          create_user: true,
          payment_email: `owed${amount}@example.com`,
          status: 'active',
        })
        await world().make('/referrals', { affiliate_id: id, amount, status: 'unpaid' })
        return id
      }
      const [little, much, most] = [await owed(1.5), await owed(567_890), await owed(567_891)]
      for (const affiliate_id of [much, most]) await world().make('/payouts', { affiliate_id, amount: 12.5 })
      const run = await world().make('/payout-runs', { minimum: 567_890 })
      const ofPayee = (id: number) =>
        `/payout-runs/${run.id}/show?filter=${encodeURIComponent(JSON.stringify({ affiliate_id: id }))}`
      await world().work(ofPayee(much), page =>
        page.getByText('name no referrals. Leave the affiliate out if these earnings were meant.').waitFor(),
      )
      await world().api('POST', `/payout-runs/${run.id}/approve`, { hash: run.hash })
      const content = `reference,status,note\n${run.reference}A${much},paid,\n${run.reference}A${most},failed,1.234 USD\n`
      await world().api('POST', `/payout-runs/${run.id}/results`, { content, format: 'csv', dry_run: false })
      const notes = [
        [little, 'What this run could pay, 1,50 USD, is less than the minimum'],
        // What could be done about it in a draft is not said any more.
        [much, /Beside this, 12,50 USD was paid by payouts that name no referrals\.$/],
        [most, '1.234 USD'],
      ] as const
      await world().work(
        '/payout-runs',
        async page => {
          for (const [id, note] of notes) {
            await goTo(page, ofPayee(id))
            await page.getByRole('region', { name: 'Payees' }).getByText(note).waitFor()
          }
        },
        { locale: 'de-DE' },
      )
    })

    test('left out by key - the focus goes on at the payees, and not at the top of the page', async () => {
      for (const amount of [678_901, 678_902]) {
        const { id } = await world().make('/affiliates', {
          create_user: true,
          payment_email: `key${amount}@example.com`,
          status: 'active',
        })
        await world().make('/referrals', { affiliate_id: id, amount, status: 'unpaid' })
      }
      const run = await world().make('/payout-runs', { minimum: 678_901 })
      await world().work(`/payout-runs/${run.id}/show`, async page => {
        const leavingOut = page.getByRole('button', { name: /^Leave out: / })
        await leavingOut.first().press('Enter')
        const question = page.getByRole('alertdialog')
        await question.getByRole('button', { name: 'Leave out' }).focus()
        // Later than the second half of the press before.
        await page.keyboard.press('Tab')
        await page.keyboard.press('Shift+Tab')
        await question.getByRole('button', { name: 'Leave out' }).press('Enter')
        await page.getByText(/^\S+ left out$/).waitFor()
        await page.locator('[data-rows]:focus').filter({ has: leavingOut }).waitFor()
      })
      await world().api('POST', `/payout-runs/${run.id}/cancel`)
    })

    test('who is not paid for want of details - is found in the draft, which leads to where they are entered', () =>
      world().work('/payout-runs', async page => {
        const account = await page.request.post('/admin/api/users', {
          headers: { 'x-admin-request': '1' },
          data: { login: 'unaddressed', email: 'unaddressed@example.com' },
        })
        const { id: user_id } = await account.json()
        const { id } = await world().make('/affiliates', { user_id, status: 'active' })
        await world().make('/referrals', { affiliate_id: id, amount: 5, status: 'unpaid' })
        const run = await world().make('/payout-runs', { method: 'paypal' })
        await goTo(page, `/payout-runs/${run.id}/show`)
        const payees = page.getByRole('region', { name: 'Payees' })
        await payees.getByLabel('Why').click()
        await page.getByRole('option', { name: 'No payment details' }).click()
        await payees
          .getByRole('combobox', { name: 'Affiliate' })
          .pressSequentially('unaddressed', { delay: 60 })
        await page.getByRole('option', { name: /unaddressed/ }).click()
        await payees.getByText('1-1 of 1').waitFor()
        assert.deepEqual(await column(page, 'Paid to'), ['–'])
        await payees.getByRole('link', { name: /^Enter them: (unaddressed|affiliate \d+)$/ }).click()
        await page.getByLabel('E-mail address at PayPal').fill('paid@example.com')
        assert.match(await page.getByRole('combobox', { name: 'Affiliate' }).inputValue(), /^unaddressed/)
        await goTo(page, `/affiliates/${id}/show`)
        await page.getByText('only runs by plain CSV pay this affiliate').waitFor()
        // Saving returns to the payees as they were filtered.
        await goTo(page, `/payout-runs/${run.id}/show`)
        await payees.getByLabel('Why').click()
        await page.getByRole('option', { name: 'No payment details' }).click()
        await payees.getByRole('link', { name: 'Enter them' }).first().click()
        await page.getByLabel('E-mail address at PayPal').fill('paid@example.com')
        await page.getByLabel('Holder').fill('Una Dressed')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByRole('heading', { level: 1, name: `Payout run ${run.id}` }).waitFor()
        await payees.getByLabel('Why').getByText('No payment details').waitFor()
        // They are not asked for again, although the run does not know of them yet.
        await payees.getByText('Entered since: prepare the run again').waitFor()
        assert.equal(await payees.getByText('Entered since').count(), 1)
        await page.setViewportSize({ width: 360, height: 740 })
        await goTo(page, `/payout-runs/${run.id}/show`)
        await payees.getByRole('button', { name: 'Filters' }).click()
        await payees.getByLabel('Why').click()
        await page.getByRole('option', { name: 'No payment details' }).click()
        // The status of the run is none of its payees.
        await page.waitForURL(/no_payment_details/)
        await payees.getByRole('link', { name: 'Enter them' }).first().waitFor()
        await world().api('POST', `/payout-runs/${run.id}/cancel`)
      }))
  })
}
