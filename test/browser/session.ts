import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import type { Page } from 'playwright-core'
import { goTo } from './pages.ts'
import { eventually, goBackUnlessAsked, type World } from './world.ts'

export function sessionScenarios(world: () => World): void {
  const logIn = async (page: Page, login: string, password: string) => {
    await page.getByLabel('Login').fill(login)
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.getByRole('button', { name: 'Log in' }).click()
  }

  describe('session', () => {
    // The first of all: nobody has logged in to this database yet.
    test('first visit - says where the password is, refuses a wrong one, and takes the right one', () =>
      world().visit('/', async page => {
        const { login, password } = world().server.announced
        await page.getByText('when it first started on this database').waitFor()
        await logIn(page, login, `not ${password}`)
        const alert = page.getByRole('alert')
        await alert.waitFor()
        assert.match(await alert.innerText(), /password|login/i)
        assert.equal(await page.getByLabel('Login').inputValue(), login)
        await page.getByLabel('Password', { exact: true }).fill(password)
        await page.keyboard.press('Enter')
        await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
      }))

    test('log in with the e-mail address, then log out - the login page is back and the session is over', () =>
      world().visit('/payouts', async page => {
        await logIn(page, 'ADMIN@example.com', world().server.announced.password)
        await page.getByRole('heading', { level: 1, name: 'Payouts' }).waitFor()
        await page.getByRole('button', { name: /^Account of/ }).click()
        await page.getByRole('menuitem', { name: 'Log out' }).click()
        await page.getByRole('button', { name: 'Log in' }).waitFor()
        assert.equal((await page.request.get('/admin/api/session')).status(), 401)
      }))

    test('another tab - notices that somebody else has logged in', () =>
      world().work('/affiliates', async page => {
        const login = 'second-tab'
        const password = 'the one of the second tab'
        const created = await page.request.post('/admin/api/users', {
          headers: { 'x-admin-request': '1' },
          data: { login, password, email: 'tab@example.com', role: 'reader' },
        })
        assert.equal(created.status(), 201)
        const first = page.getByRole('button', { name: 'Account of admin' })
        await first.waitFor()
        await page.getByRole('link', { name: 'Create affiliate' }).waitFor()
        // At once: what asks in between would end in the question to log in.
        const session = await page.request.post('/admin/api/session', {
          headers: { 'x-admin-request': '1' },
          data: { login, password },
        })
        assert.equal(session.status(), 201)
        const other = await page.context().newPage()
        await other.goto('/admin')
        await other.getByRole('button', { name: `Account of ${login}` }).waitFor()
        await page.getByRole('button', { name: `Account of ${login}` }).waitFor()
        await page.getByText(`Another tab has logged in ${login}`).waitFor()
        assert.equal(await page.getByRole('link', { name: 'Create affiliate' }).count(), 0)
        await other.close()
      }))

    test('form of who may only read - takes nothing, by pointer or by key, and looks so', async () => {
      const { id } = await world().make('/rules', {
        name: 'To be read',
        rate: 5,
        rate_type: 'percentage',
        conditions: [{ field: 'product', is: ['Book'] }],
      })
      await world().work(`/rules/${id}`, async page => {
        const account = { login: 'only-reader', password: 'who changes nothing', email: 'reader@example.com' }
        await page.request.post('/admin/api/users', {
          headers: { 'x-admin-request': '1' },
          data: { ...account, role: 'reader' },
        })
        await page.getByRole('button', { name: 'Save' }).waitFor()
        await page.context().clearCookies()
        await page.reload()
        await logIn(page, account.login, account.password)
        await page.getByText('changing this needs the permission rules.edit').waitFor()
        for (const name of ['Pays', 'Kinds of sale', 'Of the sale', 'Affiliate']) {
          const field = page.getByRole('combobox', { name })
          assert.ok(await field.isDisabled(), name)
          await field.focus()
          await page.keyboard.press('ArrowDown')
        }
        assert.equal(await page.getByRole('option').count(), 0)
        assert.ok(await page.getByRole('button', { name: 'Add condition' }).isDisabled())
        assert.equal(await page.locator('main label:visible:not(.Mui-disabled)').count(), 0)
      })
      await world().api('DELETE', `/rules/${id}`)
    })

    test('session ended, page opened anew - says so and returns to where the person was', () =>
      world().work('/payouts?filter={"status":"failed"}', async page => {
        await page.getByRole('heading', { level: 1, name: 'Payouts' }).waitFor()
        await page.context().clearCookies()
        await page.reload()
        await page.getByText('Your session has ended').waitFor()
        await logIn(page, 'admin', world().server.announced.password)
        await page.getByRole('heading', { level: 1, name: 'Payouts' }).waitFor()
        assert.match(decodeURIComponent(page.url()), /"status":"failed"/)
      }))

    test('session ended while typing - asks to log in over the page, and what was typed is saved', () =>
      world().work('/affiliates/create', async page => {
        await page.getByLabel('Payment e-mail').fill('typed@example.com')
        await page.getByLabel('Notes').fill('Typed before the session ended')
        await page.context().clearCookies()
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByRole('dialog', { name: 'Log in' }).getByText('Your session has ended').waitFor()
        await page.getByLabel('Password', { exact: true }).fill(world().server.announced.password)
        await page.getByRole('button', { name: 'Log in' }).click()
        await page.getByRole('heading', { level: 1, name: 'typed@example.com' }).waitFor()
        await page.getByText('Typed before the session ended').first().waitFor()
      }))

    test('session ended, and logged in anew in another tab - what was typed is saved without logging in here', () =>
      world().work('/affiliates/create', async page => {
        const { login, password } = world().server.announced
        await page.getByLabel('Payment e-mail').fill('other-tab@example.com')
        await page.context().clearCookies()
        await page.getByRole('button', { name: 'Save' }).click()
        const dialog = page.getByRole('dialog', { name: 'Log in' })
        await dialog.waitFor()
        const other = await page.context().newPage()
        await other.goto('/admin')
        await logIn(other, login, password)
        await dialog.waitFor({ state: 'hidden' })
        await page.getByRole('heading', { level: 1, name: 'other-tab@example.com' }).waitFor()
        await other.close()
      }))

    test('a reader is offered nothing to change, and a bookkeeper no accounts', () =>
      world().work('/users/create', async page => {
        const join = (login: string, role: string) =>
          page.request.post('/admin/api/users', {
            headers: { 'x-admin-request': '1' },
            data: { login, email: `${login}@example.com`, role, password: 'only looking here' },
          })
        await join('looker', 'reader')
        await join('books', 'bookkeeper')
        await page.context().clearCookies()
        await page.goto('/admin/affiliates')
        await logIn(page, 'looker', 'only looking here')
        await page.getByRole('heading', { level: 1, name: 'Affiliates' }).waitFor()
        await page.locator('main').getByRole('link', { name: 'Export CSV' }).waitFor()
        assert.equal(await page.getByRole('link', { name: 'Create affiliate' }).count(), 0)
        assert.equal(await page.getByRole('link', { name: 'Accounts' }).count(), 0)
        assert.equal(await page.getByRole('link', { name: 'Settings' }).count(), 0)
        await goTo(page, '/creatives')
        await page.locator('main').getByRole('row').nth(1).getByRole('link').first().click()
        await page.getByText('needs the permission creatives.edit').waitFor()
        assert.equal(await page.getByRole('button', { name: 'Save' }).count(), 0)
        assert.ok(await page.locator('[name=name]').isDisabled())
        const rate = { from_currency: 'GBP', rate: '1.1' }
        const { exchange_rate_id } = await world().make('/exchange-rates', rate)
        await goTo(page, `/exchange-rates/${exchange_rate_id}`)
        await page.getByText('needs the permission exchange_rates.edit').waitFor()
        await goTo(page, '/payouts/create')
        await page.getByText('needs the permission payouts.create').waitFor()
        assert.equal(await page.getByLabel('Amount').count(), 0)
        await page.context().clearCookies()
        await page.goto('/admin/payouts')
        await logIn(page, 'books', 'only looking here')
        await page.getByRole('link', { name: 'Record payout' }).waitFor()
        assert.equal(await page.getByRole('link', { name: 'Accounts' }).count(), 0)
        await goTo(page, '/tools')
        await page.getByRole('heading', { level: 1, name: 'Tools' }).waitFor()
        assert.equal(await page.getByRole('tab', { name: 'API keys' }).count(), 0)
        await goTo(page, '/tools/api-keys')
        await page.getByText('needs the permission keys.read').waitFor()
        await goTo(page, '/payout-runs/create')
        await page.getByLabel('Method').click()
        await page.getByRole('option', { name: 'ACH' }).click()
        await page.getByText('payer of the settings (an administrator can complete it).').waitFor()
        assert.equal(await page.locator('main').getByRole('link', { name: 'settings' }).count(), 0)
      }))

    test('a second factor - set up by its key, asked for at log-in, and a session ended from the list', () =>
      world().work('/users/create', async page => {
        await page.request.post('/admin/api/users', {
          headers: { 'x-admin-request': '1' },
          data: { login: 'twice', email: 'twice@example.com', role: 'reader', password: 'the first of two' },
        })
        await page.context().clearCookies()
        await page.goto('/admin/account')
        await logIn(page, 'twice', 'the first of two')
        await page.getByRole('button', { name: 'Set up second factor' }).click()
        await page.getByLabel('Your password').fill('not the first')
        await page.getByRole('button', { name: 'Go on' }).click()
        await page.getByText(/^Must be the password that/).waitFor()
        await page.getByLabel('Your password').fill('the first of two')
        await page.getByRole('button', { name: 'Go on' }).click()
        await page.getByRole('img', { name: 'QR code for the app' }).waitFor()
        const secret = (await page.locator('main code').innerText()).replaceAll(' ', '')
        const code = (stepsLater: number) =>
          TOTP.generate({
            secret: Secret.fromBase32(secret),
            timestamp: Date.now() + stepsLater * 30_000,
          })
        await page.getByLabel('Code that the app shows').fill('000000')
        await page.getByRole('button', { name: 'Confirm' }).click()
        await page.getByText(/^Is not what the app shows/).waitFor()
        await page.getByLabel('Code that the app shows').fill(code(0))
        await page.getByRole('button', { name: 'Confirm' }).click()
        const codes = page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem')
        await codes.first().waitFor()
        const [recovery] = await codes.allInnerTexts()
        assert.match(await goBackUnlessAsked(page), /^The recovery codes are shown only now\./)
        assert.equal(await codes.first().innerText(), recovery)
        await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
        // As over a network without TLS.
        await page.evaluate(`
          window.clipboardWithTls = navigator.clipboard
          Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true })`)
        await page.keyboard.press('Escape')
        await page.getByRole('button', { name: 'Copy recovery codes' }).click()
        await page.getByRole('button', { name: 'Copied recovery codes' }).waitFor()
        assert.equal(
          await page.evaluate('window.clipboardWithTls.readText()'),
          (await codes.allInnerTexts()).join('\n'),
        )
        await page.getByRole('button', { name: 'I have them' }).click()
        await codes.first().waitFor({ state: 'hidden' })
        await page.context().clearCookies()
        await page.goto('/admin/account')
        await logIn(page, 'twice', 'the first of two')
        await page.getByLabel('Code', { exact: true }).fill('123456')
        await page.keyboard.press('Enter')
        await page.getByText('The code is not right').waitFor()
        await page.getByLabel('Code', { exact: true }).fill(code(1))
        await page.keyboard.press('Enter')
        await page.getByText('10 recovery codes left').waitFor()
        await page.context().clearCookies()
        await page.goto('/admin/account')
        await logIn(page, 'twice', 'the first of two')
        await page.getByLabel('Code', { exact: true }).fill(recovery!)
        await page.keyboard.press('Enter')
        await page.getByText('9 recovery codes left').waitFor()
        const sessions = page.getByRole('list', { name: 'Sessions' }).getByRole('listitem')
        await eventually(async () => assert.equal(await sessions.count(), 3))
        await page
          .getByRole('button', { name: /^End the session/ })
          .first()
          .click()
        await eventually(async () => assert.equal(await sessions.count(), 2))
        await page.getByRole('button', { name: 'End all others' }).click()
        await eventually(async () => assert.equal(await sessions.count(), 1))
      }))

    test('forgotten password - the link of a real e-mail sets a new one', () =>
      world().visit('/', async page => {
        await page.getByRole('link', { name: 'Forgotten your password?' }).click()
        await page.getByLabel('Login').fill('books')
        await page.getByRole('button', { name: 'Send a link' }).click()
        await page.getByText('a link is on its way').waitFor()
        const { to, text } = await world().mail.next()
        assert.deepEqual(to, ['books@example.com'])
        const [, path] = /https:\/\/service\.example(\/admin\/\S+)/.exec(text)!
        await page.goto(path!)
        await page.getByLabel('New password').fill('password')
        await page.getByRole('button', { name: 'Set password' }).click()
        await page
          .getByRole('alert')
          .getByText(/most people use/)
          .waitFor()
        await page.getByLabel('New password').fill('a new one for books')
        await page.getByRole('button', { name: 'Set password' }).click()
        await page.getByText('Your password is set').waitFor()
        await page.reload()
        await page.getByLabel('New password').fill('one more for books')
        await page.getByRole('button', { name: 'Set password' }).click()
        await page.getByText('The link was used').waitFor()
        await page.getByRole('link', { name: 'Ask for another link' }).click()
        await page.getByRole('button', { name: 'Send a link' }).waitFor()
        await page.getByRole('link', { name: 'Log in' }).click()
        await logIn(page, 'books', 'a new one for books')
        await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
      }))

    test('change of the own password - checked, then the new one is the one that works', () =>
      world().work('/users/create', async page => {
        await page.getByLabel('Login name').fill('second')
        await page.getByLabel('E-mail').fill('second@example.com')
        await page.getByLabel('Role').click()
        await page.getByRole('option', { name: 'Administrator' }).click()
        await page.getByLabel('New password').fill('first password')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText('Account second created').waitFor()
        await page.context().clearCookies()
        await page.goto('/admin/account')
        await logIn(page, 'second', 'first password')
        await page.getByLabel('Current password').fill('wrong password')
        await page.locator('[name=new_password]').fill('second password')
        await page.getByLabel('Repeat new password').fill('second passwort')
        await page.getByRole('button', { name: 'Change password' }).click()
        await page.getByText('The two passwords differ.').waitFor()
        await page.getByLabel('Repeat new password').fill('second password')
        await page.getByRole('button', { name: 'Change password' }).click()
        await page.getByRole('alert').waitFor()
        await page.getByLabel('Current password').fill('first password')
        await page.getByRole('button', { name: 'Change password' }).click()
        await page.getByText('Password changed').waitFor()
        await page.context().clearCookies()
        await page.goto('/admin/affiliates')
        await logIn(page, 'second', 'second password')
        await page.getByRole('heading', { level: 1, name: 'Affiliates' }).waitFor()
        await goTo(page, '/users')
        await page.locator('main').getByRole('link', { name: 'second', exact: true }).click()
        await page.getByText('Your own password needs the current one').waitFor()
        assert.equal(await page.getByLabel('New password').count(), 0)
        await page.getByRole('link', { name: 'change password' }).click()
        await page.getByLabel('Current password').waitFor()
      }))
  })
}
