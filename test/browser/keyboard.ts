import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { settled } from './pages.ts'
import type { World } from './world.ts'

/** What has the focus, by its name. */
const focused = (page: Page) =>
  page.evaluate<string>(
    "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent",
  )

export function keyboardScenarios(world: () => World): void {
  const pendingReferral = async (name: string) => {
    const { id } = await world().make('/affiliates', {
      create_user: true,
      username: name,
      payment_email: `${name}@example.com`,
      status: 'active',
    })
    const { referral_id } = await world().make('/referrals', {
      affiliate_id: id,
      amount: 345.67,
      status: 'pending',
    })
    return { affiliate: id as number, referral: referral_id as number }
  }

  describe('presses', () => {
    test('Enter twice, or held - a question is asked, and not answered', async () => {
      const { affiliate, referral } = await pendingReferral('pressedtwice')
      await world().make('/referrals', { affiliate_id: affiliate, amount: 765_432, status: 'unpaid' })
      const run = await world().make('/payout-runs', { minimum: 765_432 })
      const actions = [
        { path: `/referrals/${referral}/show`, name: 'Reject' },
        { path: `/payout-runs/${run.id}/show`, name: 'Approve' },
        { path: `/payout-runs/${run.id}/show`, name: 'Cancel run' },
      ]
      for (const { path, name } of actions) {
        await world().work(path, async page => {
          await settled(page)
          const question = page.getByRole('alertdialog')
          await page.getByRole('button', { name }).focus()
          for (const key of ['Enter', 'Enter', 'Enter']) await page.keyboard.press(key)
          await question.waitFor()
          await page.keyboard.press('Escape')
          await question.waitFor({ state: 'detached' })
          await page.getByRole('button', { name }).and(page.locator(':focus')).waitFor()
          // Without coming up in between it is one press.
          for (let repeated = 0; repeated < 5; repeated += 1) await page.keyboard.down('Enter')
          await page.keyboard.up('Enter')
          await question.waitFor()
          await settled(page)
          assert.equal(await question.count(), 1)
        })
      }
      assert.equal((await world().read(`/referrals/${referral}`)).status, 'pending')
      assert.equal((await world().read(`/payout-runs/${run.id}`)).status, 'draft')
      await world().api('POST', `/payout-runs/${run.id}/cancel`)
    })

    test('blank that is held - goes on turning the page, where it presses nothing', async () => {
      await world().work('/settings', async page => {
        await settled(page)
        await page.evaluate(`
          document.activeElement.blur()
          let count = 0
          document.addEventListener('keydown', () => { document.body.dataset.blanks = String(++count) })`)
        for (let repeated = 0; repeated < 4; repeated += 1) await page.keyboard.down('Space')
        await page.keyboard.up('Space')
        assert.equal(await page.evaluate('document.body.dataset.blanks'), '4')
      })
    })

    test('button that jumps while it is pressed - is pressed, unless the pointer has been drawn away', async () => {
      const { referral } = await pendingReferral('jumping')
      await world().work(`/referrals/${referral}/show`, async page => {
        await settled(page)
        const reject = page.getByRole('button', { name: 'Reject' })
        const question = page.getByRole('alertdialog')
        const insert = (above: boolean) =>
          page.evaluate(`{
            const line = document.querySelector('#line') ?? document.querySelector('main').appendChild(document.createElement('p'))
            line.id = 'line'
            line.textContent = 'Owed after it'
            document.querySelector('main').insertAdjacentElement('${above ? 'afterbegin' : 'beforeend'}', line)
          }`)
        const press = async (drawnBy: number) => {
          await insert(false)
          const { x, y, width, height } = (await reject.boundingBox())!
          const [middle, centre] = [x + width / 2, y + height / 2]
          await page.mouse.move(middle, centre)
          await page.mouse.down()
          await insert(true)
          const { y: moved } = (await reject.boundingBox())!
          assert.ok(moved > centre, `it stands still, at ${moved} from ${y}`)
          await page.mouse.move(middle + drawnBy, centre)
          await page.mouse.up()
        }
        await press(60)
        await settled(page)
        assert.equal(await question.count(), 0)
        await press(1)
        await question.waitFor()
      })
    })

    test('double click - its second half presses nothing that the first has opened below it', async () => {
      const { referral } = await pendingReferral('clickedtwice')
      await world().work(`/referrals/${referral}/show`, async page => {
        await page.getByRole('button', { name: 'Reject' }).click()
        const question = page.getByRole('alertdialog')
        const { x, y } = (await question.getByRole('button', { name: 'Reject' }).boundingBox())!
        await page.mouse.move(x + 5, y + 5)
        for (const clickCount of [2, 3]) {
          await page.mouse.down({ clickCount })
          await page.mouse.up({ clickCount })
        }
        await settled(page)
        assert.equal((await world().read(`/referrals/${referral}`)).status, 'pending')
        await question.getByRole('button', { name: 'Reject' }).click()
        await page.getByText(`Referral ${referral} rejected`).waitFor()
      })
    })
  })

  test('double click on Add condition - adds one, whose choices do not open', () =>
    world().work('/rules/create', async page => {
      await page.getByRole('button', { name: 'Add condition' }).dblclick()
      await page.getByRole('button', { name: 'Remove condition 1' }).waitFor()
      await settled(page)
      assert.equal(await page.getByRole('listbox').count(), 0)
      assert.equal(await page.getByRole('button', { name: /^Remove condition/ }).count(), 1)
    }))

  test('double click on what is done at once - a run is prepared again once', async () => {
    const { affiliate } = await pendingReferral('preparedtwice')
    await world().make('/referrals', { affiliate_id: affiliate, amount: 876_543, status: 'unpaid' })
    const run = await world().make('/payout-runs', { minimum: 876_543 })
    await world().work(`/payout-runs/${run.id}/show`, async page => {
      const sent: string[] = []
      page.on('request', request => request.method() === 'POST' && sent.push(request.url()))
      await page.route(/\/payout-runs\/\d+$/, async route => {
        await new Promise(resolve => setTimeout(resolve, 500))
        await route.continue()
      })
      await page.getByRole('button', { name: 'Prepare again' }).dblclick()
      await page.getByText(`Payout run ${run.id} is being prepared again`).waitFor()
      await settled(page)
      assert.equal(sent.length, 1)
    })
    await world().api('POST', `/payout-runs/${run.id}/cancel`)
  })

  describe('keyboard', () => {
    test('rows that are chosen - what can be done with them is one stop away from the last', () =>
      world().work('/referrals', async page => {
        const bar = page.getByRole('region', { name: 'Chosen' })
        const boxes = page.getByRole('checkbox', { name: /^Choose Referral/ })
        const lead = page.getByRole('button', { name: /^Actions for/ })
        await boxes.nth(4).focus()
        await page.keyboard.press('Space')
        await page.keyboard.press('Tab')
        await boxes.nth(6).focus()
        await page.keyboard.press('Space')
        await bar.getByText('2 chosen').waitFor()
        await page.keyboard.press('Tab')
        assert.equal(await focused(page), 'Actions for 2 chosen')
        const { x, y, width } = (await lead.and(page.locator(':focus')).boundingBox())!
        assert.ok(x > 0 && y > 0 && width > 100)
        await page.keyboard.press('Enter')
        await bar
          .getByLabel(/^All .* that match$/)
          .and(page.locator(':focus'))
          .waitFor()
        await page.keyboard.press('Tab')
        assert.equal(await focused(page), 'Approve')
        // From the heading as well, where all are chosen; and nowhere once none is.
        await page.keyboard.press('Tab')
        await page.getByLabel('Choose all on this page').focus()
        await page.keyboard.press('Space')
        await page.keyboard.press('Tab')
        assert.equal(await focused(page), 'Actions for 25 chosen')
        await page.keyboard.press('Shift+Tab')
        await page.keyboard.press('Space')
        await bar.waitFor({ state: 'hidden' })
        assert.equal(await lead.count(), 0)
      }))

    test('list that is filtered - how many are found is announced, and that none are', () =>
      world().work('/groups', async page => {
        await settled(page)
        const said = page.locator('[data-rows]').getByRole('status')
        const search = page.getByRole('searchbox', { name: 'Search' })
        for (const name of ['Heard one', 'Heard two']) await world().make('/groups', { name })
        await search.fill('Heard')
        await said.getByText('2 found').waitFor()
        await search.fill('Heard by nobody')
        await said.getByText('0 found').waitFor()
        await search.fill('Heard two')
        await said.getByText('1 found').waitFor()
      }))

    test('back from a record - the focus is on the row that led to it, by the way back and by the link', () =>
      world().work('/affiliates', async page => {
        await page.getByText(/^1-25 of/).waitFor()
        const link = page.getByRole('table').getByRole('row').nth(21).getByRole('link').first()
        const name = await link.innerText()
        const top = () => page.evaluate<number>('Math.round(scrollY)')
        const isBack = () => link.and(page.locator(':focus')).waitFor()
        for (const back of ['history', 'link'] as const) {
          await link.focus()
          const before = await top()
          assert.ok(before > 100, `${before}`)
          await page.keyboard.press('Enter')
          await page.getByRole('heading', { level: 1, name }).waitFor()
          await settled(page)
          if (back === 'history') await page.goBack()
          else {
            await page.locator('h1:focus').waitFor()
            await page.keyboard.press('Shift+Tab')
            assert.equal(await focused(page), '← Affiliates')
            await page.keyboard.press('Enter')
          }
          await isBack()
          await settled(page)
          assert.equal(await link.innerText(), name)
          assert.ok(await link.isVisible())
          if (back === 'history') assert.equal(await top(), before)
        }
        // Whoever goes to the list anew begins at its beginning.
        await page.getByRole('link', { name: 'Affiliates', exact: true }).click()
        await settled(page)
        assert.notEqual(await focused(page), name)
      }))

    test('back from a rule that was renamed - the focus is on the row of its new version', async () => {
      const { rule_id } = await world().make('/rules', { name: 'Before', rate: 1, priority: 900 })
      await world().work('/rules', async page => {
        await page.getByRole('link', { name: 'Before' }).press('Enter')
        await page.getByLabel('Name').fill('After')
        await page.getByLabel('Name').press('Enter')
        await page.getByRole('link', { name: 'After' }).and(page.locator(':focus')).waitFor()
      })
      const [{ rule_id: now }] = await world().read('/rules?name=After')
      assert.notEqual(now, rule_id)
      await world().api('DELETE', `/rules/${now}`)
    })
  })
}
