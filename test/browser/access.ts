import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { settled } from './pages.ts'
import type { World } from './world.ts'

export function accessScenarios(world: () => World): void {
  const newAffiliate = (name: string, args: object = {}) =>
    world().make('/affiliates', {
      create_user: true,
      username: name,
      payment_email: `${name}@example.com`,
      ...args,
    })

  describe('screen reader', () => {
    test('search - its results are in groups that have a name', async () => {
      await newAffiliate('groupedhit')
      await world().work('/', async page => {
        await settled(page)
        await page.keyboard.press('/')
        await page.getByRole('combobox', { name: 'Search' }).fill('groupedhit')
        const list = page.getByRole('listbox', { name: 'Search' })
        for (const name of ['Affiliates', 'Accounts']) {
          await list
            .getByRole('group', { name })
            .getByRole('option', { name: /groupedhit/ })
            .waitFor()
        }
        assert.equal(await list.getByRole('listitem').count(), 0)
      })
    })

    test('question - is an alert that says what follows', () =>
      world().work('/affiliates/1/show', async page => {
        await page.getByRole('button', { name: 'Delete' }).click()
        const question = page.getByRole('alertdialog', { name: /^Delete affiliate/ })
        await question.waitFor()
        // A form cannot be an alert.
        assert.equal(await question.evaluate(({ tagName }) => tagName), 'DIV')
        const described = await question.getAttribute('aria-describedby')
        await question.locator(`#${described}`).getByText('is gone for good').waitFor()
      }))
  })
}
