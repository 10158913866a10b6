import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Locator } from 'playwright-core'
import { goTo, settled } from './pages.ts'
import { eventually, type World } from './world.ts'

/** Without how transparent it is: there is one colour below everything. */
const colourOf = (element: Locator) =>
  element.evaluate(it => {
    const { backgroundColor } = it.ownerDocument.defaultView!.getComputedStyle(it)
    return backgroundColor.match(/\d+/g)!.slice(0, 3)
  })

export function accessScenarios(world: () => World): void {
  const newAffiliate = (name: string, args: object = {}) =>
    world().make('/affiliates', {
      create_user: true,
      username: name,
      payment_email: `${name}@example.com`,
      ...args,
    })

  /** An approved run with one payment, to a new affiliate. @param amount larger than what anybody else is owed */
  async function approved(name: string, amount: number) {
    const { id } = await newAffiliate(name, { status: 'active' })
    await world().make('/referrals', { affiliate_id: id, amount, status: 'unpaid' })
    const run = await world().make('/payout-runs', { minimum: amount })
    const approval = await world().api('POST', `/payout-runs/${run.id}/approve`, { hash: run.hash })
    assert.equal(approval.status, 200)
    return run
  }

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

    test('actions - their column has a name, and each of those on Home says whom it is about', async () => {
      await newAffiliate('namedreject', { status: 'pending' })
      const run = await approved('namedcolumn', 1_234_501)
      await world().work('/', async page => {
        await page.getByRole('button', { name: 'Reject: namedreject' }).waitFor()
        await goTo(page, `/payout-runs/${run.id}/show`)
        for (const region of ['Files', 'Payees']) {
          const columns = page.getByRole('region', { name: region, exact: true }).getByRole('columnheader')
          assert.equal((await columns.allInnerTexts()).at(-1), 'Action', region)
        }
        await world().api('POST', `/payout-runs/${run.id}/cancel`, { not_handed_over: true })
        await page.reload()
        const payees = page.getByRole('table', { name: 'Payees' })
        await payees.getByText('The run was cancelled').first().waitFor()
        assert.equal(await payees.getByRole('columnheader', { name: 'Action' }).count(), 0)
      })
    })
  })

  describe('keyboard', () => {
    test('button of a section that goes with what it has done - the focus stays in the section', async () => {
      const run = await approved('keptinsection', 1_234_502)
      await world().work(`/payout-runs/${run.id}/show`, async page => {
        await page.getByRole('button', { name: 'All others were paid' }).press('Enter')
        await page.getByRole('button', { name: 'Record', exact: true }).press('Enter')
        await page.getByText('1 paid; 0 recorded before').last().waitFor()
        const results = page.getByRole('region', { name: 'Results' })
        await results.and(page.locator(':focus')).waitFor()
        assert.ok(await results.evaluate(element => element.getBoundingClientRect().bottom > 0))
      })
    })
  })

  test('phone - the card of a payee of whom there is nothing to say says nothing', async () => {
    const run = await approved('cardofpayee', 1_234_503)
    const only = encodeURIComponent(JSON.stringify({ status: 'reserved' }))
    await world().work(
      `/payout-runs/${run.id}/show?filter=${only}`,
      async page => {
        const card = page.getByRole('region', { name: 'Payees' }).getByRole('listitem')
        await card.getByText('$1,234,503.00').waitFor()
        assert.doesNotMatch(await card.innerText(), /–/)
      },
      { width: 360, height: 740 },
    )
    await world().api('POST', `/payout-runs/${run.id}/cancel`, { not_handed_over: true })
  })

  test('colours of the system - what is chosen differs from what is not', () =>
    world().work('/affiliates', async page => {
      await settled(page)
      await page.emulateMedia({ forcedColors: 'active' })
      const pairs = [
        [page.getByRole('button', { name: /^All \d/ }), page.getByRole('button', { name: /^Active \d/ })],
        [
          page.getByRole('link', { name: 'Affiliates', exact: true }),
          page.getByRole('link', { name: 'Payouts', exact: true }),
        ],
      ]
      await eventually(async () => {
        for (const [chosen, other] of pairs) {
          assert.notDeepEqual(await colourOf(chosen!), await colourOf(other!))
        }
      })
      await page.emulateMedia({ forcedColors: null })
    }))
}
