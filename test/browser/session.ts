import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { World } from './world.ts'

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
        await page.getByText('Your session has ended').waitFor()
        await page.getByLabel('Password', { exact: true }).fill(world().server.announced.password)
        await page.getByRole('button', { name: 'Log in' }).click()
        await page.getByRole('heading', { level: 1, name: 'typed@example.com' }).waitFor()
        await page.getByText('Typed before the session ended').first().waitFor()
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
        await page.getByLabel('New password again').fill('second passwort')
        await page.getByRole('button', { name: 'Change password' }).click()
        await page.getByText('This differs from the new password.').waitFor()
        await page.getByLabel('New password again').fill('second password')
        await page.getByRole('button', { name: 'Change password' }).click()
        await page.getByRole('alert').waitFor()
        await page.getByLabel('Current password').fill('first password')
        await page.getByRole('button', { name: 'Change password' }).click()
        await page.getByText('Password changed').waitFor()
        await page.context().clearCookies()
        await page.goto('/admin/affiliates')
        await logIn(page, 'second', 'second password')
        await page.getByRole('heading', { level: 1, name: 'Affiliates' }).waitFor()
        await page.goto('/admin/users')
        await page.locator('main').getByRole('link', { name: 'second', exact: true }).click()
        await page.getByText('Your own password needs the current one').waitFor()
        assert.equal(await page.getByLabel('New password').count(), 0)
        await page.getByRole('link', { name: 'change password' }).click()
        await page.getByLabel('Current password').waitFor()
      }))
  })
}
