import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { downloaded } from './affiliates.ts'
import { goTo, settled } from './pages.ts'
import { eventually, goBackUnlessAsked, type World } from './world.ts'

export function toolScenarios(world: () => World): void {
  describe('tools', () => {
    test('API key - generated, used, seen to be used, revoked, and then refused by the API', () =>
      world().work('/affiliates', async page => {
        await page.getByRole('link', { name: 'Tools', exact: true }).click()
        await page.getByRole('tab', { name: 'API Keys' }).click()
        await page.getByRole('button', { name: 'Generate API key' }).click()
        const dialog = page.getByRole('dialog')
        await dialog.getByRole('button', { name: 'Generate', exact: true }).click()
        await dialog.getByText('Give the key a name').waitFor()
        // What can be chosen is what the role of the owner has.
        const account = { login: 'keyholder', email: 'keyholder@example.com', role: 'bookkeeper' }
        await page.request.post('/admin/api/users', { headers: { 'x-admin-request': '1' }, data: account })
        const owner = dialog.getByRole('combobox', { name: 'Owner' })
        const first = await owner.inputValue()
        const choose = async (name: string) => {
          await owner.fill('')
          await owner.pressSequentially(name, { delay: 60 })
          await page.getByRole('option', { name: new RegExp(`^${name}`) }).click()
          await dialog.getByRole('button', { name: 'Full access' }).click()
        }
        await choose('keyholder')
        assert.ok(await dialog.getByLabel('Payouts: create').isChecked())
        assert.ok(await dialog.getByLabel('Affiliates: read').isChecked())
        assert.equal(await dialog.getByLabel('Affiliates: create').count(), 0)
        await choose(first.split(' <')[0]!)
        assert.ok(await dialog.getByLabel('Affiliates: create').isChecked())
        await dialog.getByRole('button', { name: 'Read-only' }).click()
        assert.equal(await dialog.getByLabel('Affiliates: create').isChecked(), false)
        await dialog.getByLabel('Name').fill('Shop & "co" <b>')
        await dialog.getByLabel('Payouts: create').check()
        await dialog.getByRole('button', { name: 'Generate', exact: true }).click()
        await page.getByText("won't be shown again").waitFor()
        const token = await page.getByLabel('Token').inputValue()
        assert.match(await goBackUnlessAsked(page), /^The token is shown only now\./)
        assert.equal(await page.getByLabel('Token').inputValue(), token)
        await page.getByRole('button', { name: 'Copy' }).click()
        await page.getByText('The token is in the clipboard.').waitFor()
        await page.getByRole('button', { name: 'Done' }).click()

        const row = page.getByRole('row', { name: /Shop & "co" <b>/ })
        await row.getByText(/affiliates: read;.* payouts: read, create(?:;|$)/).waitFor()
        assert.match(await row.innerText(), /Never/)
        assert.equal(await page.getByText(token).count(), 0)
        assert.equal((await world().api('GET', '/affiliates', undefined, token)).status, 200)
        assert.equal((await world().api('DELETE', '/affiliates/1', undefined, token)).status, 403)

        // The time of the last use is written a little later than the use.
        await eventually(async () => {
          await page.reload()
          await row.waitFor()
          assert.equal(await row.getByText('Never').count(), 1)
        })
        assert.ok((await row.locator('td').nth(4).innerText()).includes(String(new Date().getUTCFullYear())))

        await row.getByRole('button', { name: /^Revoke/ }).click()
        const question = page.getByRole('alertdialog')
        assert.match(await question.innerText(), /What stays/)
        await question.getByRole('button', { name: 'Revoke' }).click()
        await row.getByText('Revoked').waitFor()
        await eventually(async () => {
          assert.equal((await world().api('GET', '/affiliates', undefined, token)).status, 401)
        })
      }))

    test('export - affiliates as CSV and payouts as NDJSON, one line for each', () =>
      world().work('/tools/export', async page => {
        const total = async (path: string) =>
          Number((await world().api('GET', `${path}?count=1&number=1`)).headers.get('x-total-count'))
        const csv = await downloaded(page, 'Download')
        assert.equal(csv.text.trim().split('\r\n').length, (await total('/affiliates')) + 1)
        await page.getByLabel('Payouts').check()
        await page.getByLabel(/^NDJSON/).check()
        const ndjson = await downloaded(page, 'Download')
        const records = ndjson.text
          .trim()
          .split('\n')
          .map(line => JSON.parse(line))
        assert.equal(records.length, await total('/payouts'))
      }))

    test('audit log - who did what, narrowed; and the history of a record on its page', () =>
      world().work('/affiliates', async page => {
        const email = `audited${Date.now()}@example.com`
        const created = await world().api('POST', '/affiliates', { create_user: true, payment_email: email })
        const { id } = (await created.json()) as { id: number }
        await world().api('PATCH', `/affiliates/${id}`, { status: 'active', notes: '<b>bold</b>' })
        await goTo(page, '/tools/audit-log')
        const table = page.getByRole('table', { name: 'Audit log' })
        await table.getByText(email).first().waitFor()
        const account = page.getByRole('combobox', { name: 'Account' })
        await account.pressSequentially('adm', { delay: 80 })
        await page.getByRole('option', { name: 'admin' }).click()
        await page.getByLabel('Record number').fill(String(id))
        await page.getByLabel('What').click()
        await page.getByRole('option', { name: 'Affiliate edited' }).click()
        await eventually(async () => assert.equal(await table.getByRole('row').count(), 2))
        const row = await table.getByRole('row').nth(1).innerText()
        assert.match(row, /status: pending → active/)
        assert.match(row, /notes: nothing → <b>bold<\/b>/)
        await table.getByRole('link', { name: `#${id}` }).click()
        const history = page.getByRole('region', { name: 'History' })
        await history.getByText('Affiliate edited').waitFor()
        await history.getByText('Affiliate created').waitFor()
        const group = await world().make('/groups', { name: `Audited ${id}` })
        await world().api('PATCH', `/affiliates/${id}`, { group_id: group.id })
        await page.reload()
        await history.getByText(`group: nothing → Audited ${id}`).waitFor()
        const customer = `bought${id}@example.com`
        const { customer_id } = await world().make('/customers', { email: customer })
        const referral = { affiliate_id: id, amount: 7.5, currency: 'USD', customer_id }
        const { referral_id } = await world().make('/referrals', referral)
        await goTo(page, `/referrals/${referral_id}/show`)
        await history.getByText('Referral created').waitFor()
        const told = await history.innerText()
        assert.match(told, /amount: \$7\.50/)
        await history.getByRole('link', { name: customer }).waitFor()
        assert.doesNotMatch(told, /[0-9a-f]{64}|rule id|visit id|payout id|customer id/)
      }))

    test('audit log of what was deleted - its number leads nowhere', async () => {
      const args = { create_user: true, payment_email: 'deleted@example.com' }
      const { id } = await world().make('/affiliates', args)
      await world().api('DELETE', `/affiliates/${id}`)
      const { id: kept } = await world().make('/affiliates', { ...args, payment_email: 'kept@example.com' })
      await world().work('/tools/audit-log?filter={"record":"affiliate"}', async page => {
        const table = page.getByRole('table', { name: 'Audit log' })
        // An account may have the same number.
        const linkTo = (id: number) => table.locator(`a[href$="/affiliates/${id}/show"]`)
        await linkTo(kept).waitFor()
        await table.getByText(`Affiliate deleted #${id}`).waitFor()
        await table.getByText(`Affiliate created #${id}`).waitFor()
        assert.equal(await linkTo(id).count(), 0)
      })
    })

    test('system - version, database, counts and uptime', () =>
      world().work('/tools/system', async page => {
        await page.getByText('Database size').waitFor()
        const text = await page.getByRole('tabpanel').innerText()
        assert.match(text, /SQLite/i)
        assert.match(text, /Uptime\nless than a minute|Uptime\n\d+ minute/)
      }))

    test('settings - a wrong one is said at its field, a right one is kept', () =>
      world().work('/settings', async page => {
        await page.getByLabel('Default rate', { exact: true }).fill('22.55555')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText('with a point and at most 4 decimals').waitFor()
        await page.getByLabel('Default rate', { exact: true }).fill('22.5')
        const hosts = page.getByRole('combobox', { name: 'Allowed hosts' })
        await hosts.pressSequentially('shop.example')
        await hosts.press('Tab')
        await hosts.pressSequentially('*.other.example')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText('Settings saved').waitFor()
        const { allowed_hosts } = await (await page.request.get('/admin/api/settings')).json()
        assert.deepEqual(allowed_hosts, ['shop.example', '*.other.example'])
        await page.getByRole('link', { name: 'Commission rules', exact: true }).click()
        await page.getByText('the default of 22.5% comes last').waitFor()
      }))

    test('settings - a rate beyond all of a sale, and one that somebody else has changed, are asked for twice', () =>
      world().work('/settings', async page => {
        const rate = page.getByLabel('Default rate', { exact: true })
        const save = () => page.getByRole('button', { name: 'Save' }).click()
        const kept = async () => (await (await page.request.get('/admin/api/settings')).json()).default_rate
        const before = await kept()
        await rate.fill('120')
        await save()
        await page.getByText('This is more than the whole sale.').waitFor()
        assert.equal(await kept(), before)
        await save()
        await page.getByText('Settings saved').waitFor()
        assert.equal(await kept(), '120')

        await page.reload()
        await rate.waitFor()
        await page.request.patch('/admin/api/settings', {
          headers: { 'x-admin-request': '1' },
          data: { default_rate: '30' },
        })
        await rate.fill('20')
        await save()
        await page.getByText('It is 30 by now.').waitFor()
        assert.equal(await kept(), '30')
        await save()
        await page.getByText('Settings saved').waitFor()
        assert.equal(await kept(), '20')
      }))

    test('settings changed by two people - each change is kept', () =>
      world().work('/settings', async page => {
        await page.getByLabel('Default rate', { exact: true }).fill('21')
        const other = await page.request.patch('/admin/api/settings', {
          headers: { 'x-admin-request': '1' },
          data: { rate_types: ['percentage', 'flat', 'per visit'] },
        })
        assert.equal(other.status(), 200, await other.text())
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText('Settings saved').waitFor()
        const kept = await (await page.request.get('/admin/api/settings')).json()
        assert.equal(kept.default_rate, '21')
        assert.deepEqual(kept.rate_types, ['percentage', 'flat', 'per visit'])
      }))

    test('reports of any days - stay in the address, are compared with the days before, and can be left again', () =>
      world().work('/reports', async page => {
        const asked: string[] = []
        page.on('request', request => asked.push(request.url()))
        // Digit by digit, as it is typed: its month, its day, its year.
        await page.getByLabel('From').press('Tab')
        await page.getByLabel('From').pressSequentially('01052026', { delay: 60 })
        assert.deepEqual(
          asked.filter(url => /from=0/.test(url)),
          [],
        )
        await page.getByLabel('From').fill('2026-01-05')
        await page.getByLabel('To', { exact: true }).fill('2026-01-20')
        await page
          .getByText(/From Jan 5, 2026 until Jan 20, 2026, compared with Dec 20, 2025 until Jan 4, 2026/)
          .waitFor()
        await page.reload()
        await page.getByText(/From Jan 5, 2026/).waitFor()
        assert.equal(await page.getByLabel('To', { exact: true }).inputValue(), '2026-01-20')
        await page.getByRole('button', { name: '30 days' }).click()
        await page.getByRole('button', { name: '30 days', pressed: true }).waitFor()
        assert.equal(await page.getByLabel('From').inputValue(), '')
        await page.getByRole('button', { name: 'All', exact: true }).click()
        await page.getByRole('button', { name: 'All', exact: true, pressed: true }).waitFor()
        await page.goBack()
        await page.getByRole('button', { name: '30 days', pressed: true }).waitFor()
        // The days of before, which are one step, however many were typed.
        await page.goBack()
        await page.getByText(/From Jan 5, 2026 until Jan 20, 2026/).waitFor()
        assert.equal(await page.getByLabel('From').inputValue(), '2026-01-05')
        await page.goBack()
        await page.getByRole('button', { name: '12 months', pressed: true }).waitFor()
        await page.goForward()
        await page.getByText(/From Jan 5, 2026 until Jan 20, 2026/).waitFor()
        // Refused once, not by each report, whichever answer comes last.
        await page.route(/earnings-by-month/, async route => {
          await delay(1000)
          await route.continue()
        })
        await page.evaluate(`
          mostAlerts = 0
          new MutationObserver(() => {
            mostAlerts = Math.max(mostAlerts, document.querySelectorAll('[role=alert]').length)
          }).observe(document.body, { subtree: true, childList: true })`)
        await page.getByLabel('To', { exact: true }).fill('2026-01-04')
        await page.getByRole('alert').getByText('To: must not be before from.').waitFor()
        await settled(page)
        assert.equal(await page.getByRole('alert').count(), 1)
        assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0)
        assert.equal(await page.evaluate('mostAlerts'), 1)
        await page.getByLabel('To', { exact: true }).fill('2026-01-21')
        await page.getByText(/From Jan 5, 2026 until Jan 21, 2026/).waitFor()
      }))

    test('day of a report that is corrected - is asked for once it is typed, by Enter, on leaving and after a pause', () =>
      world().work('/reports?from=2026-01-05&to=2026-03-04', async page => {
        await settled(page)
        const asked: string[] = []
        page.on('request', request => {
          const { pathname, searchParams } = new URL(request.url())
          if (pathname.endsWith('/earnings-by-month')) asked.push(String(searchParams.get('to')))
        })
        const field = page.getByLabel('To', { exact: true })
        const corrections = [
          ['0615', '2026-06-15', 'Enter'],
          ['0718', '2026-07-18', 'Tab'],
          ['0821', '2026-08-21', undefined],
        ] as const
        for (const [typed, to, key] of corrections) {
          await field.focus()
          await field.pressSequentially(typed, { delay: 60 })
          // What the browser has chosen next is the year, which stays.
          if (key === 'Tab') await page.getByLabel('From').focus()
          else if (key !== undefined) await page.keyboard.press(key)
          await page.waitForURL(url => url.searchParams.get('to') === to)
          await settled(page)
          await field.blur()
        }
        assert.deepEqual(
          asked,
          corrections.map(([, to]) => to),
        )
        // Emptied by its parts, it is none until all of it is typed again.
        await field.focus()
        await page.keyboard.press('Backspace')
        await field.blur()
        await settled(page)
        assert.equal(asked.length, corrections.length)
      }))

    test('back right behind the day of a report that is typed - the reports of before are shown, without that day', () =>
      world().work('/reports?to=2026-03-04', async page => {
        await settled(page)
        await page.getByRole('button', { name: 'All' }).click()
        await page.waitForURL(/span=all/)
        await page.getByLabel('From').focus()
        await page.getByLabel('From').pressSequentially('01052026', { delay: 60 })
        await page.goBack()
        await page.waitForURL(/to=2026-03-04/)
        // As long as it would take to be applied.
        await page.waitForTimeout(2000)
        assert.match(page.url(), /reports\?to=2026-03-04$/)
        assert.equal(await page.getByLabel('From').inputValue(), '')
      }))

    test('reports in Arabic - the axes say their amounts in full', () =>
      world().work(
        '/reports',
        async page => {
          // Names, in other plots, are cut on purpose.
          const plot = page.getByRole('img', { name: 'What was earned, paid and rejected over time' })
          const labels = plot.locator('.MuiChartsAxis-tickLabel')
          await labels.getByText('US$').first().waitFor()
          await settled(page)
          const texts = await labels.allTextContents()
          assert.deepEqual(
            texts.filter(text => text.includes('…')),
            [],
          )
        },
        { locale: 'ar-EG' },
      ))

    test('reports - every plot is drawn, and its numbers and its file agree with the list', () =>
      world().work('/reports', async page => {
        await page.getByRole('button', { name: 'All', exact: true }).click()
        await page.getByRole('button', { name: 'All', exact: true, pressed: true }).waitFor()
        await settled(page)
        const drawn = await page.getByRole('img').count()
        const empty = await page.getByText(/^Nothing to show yet/).count()
        assert.ok(drawn >= 7)
        assert.equal(drawn + empty, await page.locator('main section').count())
        // The totals above are those of the rows below.
        const owed = Number(
          (await page.locator('dt:text-is("Owed at the end") + dd').innerText())
            .split('\n')[0]!
            .replace(/[$,]/g, ''),
        )
        const { rows } = await (
          await page.request.get('/admin/api/reports/earnings-by-month?span=all')
        ).json()
        assert.equal(owed, rows.at(-1).owed)
        await page.getByRole('button', { name: 'Show numbers of Payouts by method' }).click()
        const table = page.getByRole('region', { name: 'Numbers of Payouts by method' })
        const paypal = await table
          .getByRole('row', { name: /^PayPal/ })
          .locator('td')
          .allInnerTexts()
        const payouts = await world().read('/payouts?payout_method=paypal&status=paid&number=-1')
        const cents = payouts.reduce(
          (sum: number, { amount }: { amount: number }) => sum + Math.round(amount * 100),
          0,
        )
        assert.equal(paypal[1]!.replaceAll(',', ''), String(payouts.length))
        assert.equal(paypal[2]!.replace(/[$,]/g, ''), (cents / 100).toFixed(2))
        const { text } = await downloaded(page, 'CSV of Payouts by method')
        assert.ok(text.includes(`paypal,${payouts.length},${(cents / 100).toFixed(2)}`), text)
      }))
  })
}
