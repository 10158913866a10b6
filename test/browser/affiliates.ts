import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { goTo, settled } from './pages.ts'
import { eventually, go, idle, type World } from './world.ts'

/** The texts of a column of the table that is shown. */
export async function column(page: Page, name: string): Promise<string[]> {
  const headers = await page.getByRole('columnheader').allInnerTexts()
  const index = headers.findIndex(header => header.trim() === name)
  assert.ok(index >= 0, `${name} in ${headers}`)
  return page.locator(`tbody tr > :nth-child(${index + 1})`).allInnerTexts()
}

/** Clicks, and returns the file that comes. */
export async function downloaded(page: Page, name: string | RegExp): Promise<{ name: string; text: string }> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name }).click(),
  ])
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') }
}

export function affiliateScenarios(world: () => World): void {
  describe('affiliates', () => {
    test('create, approve, edit, delete - each is done, said and stored', () =>
      world().work('/affiliates', async page => {
        await page.getByRole('link', { name: 'Create affiliate' }).click()
        await page.getByLabel('Payment e-mail').fill('fresh@example.com')
        await page.getByLabel('Login name').fill('fresh')
        await page.getByLabel('Rate', { exact: true }).fill('12.5')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByRole('heading', { level: 1, name: 'fresh' }).waitFor()
        const id = Number(page.url().match(/affiliates\/(\d+)\/show/)![1])
        const stored = () => world().read(`/affiliates/${id}`)
        assert.deepEqual(await pick(stored(), 'status', 'rate', 'payment_email'), [
          'pending',
          '12.5',
          'fresh@example.com',
        ])

        const approve = page.getByRole('button', { name: /^Approve/ })
        await approve.click()
        await page.getByRole('button', { name: 'Deactivate' }).waitFor()
        assert.equal((await stored()).status, 'active')
        await idle(page.getByRole('button', { name: /^Undo/ })).waitFor()
        await page.keyboard.press('Enter')
        await page.getByText('fresh is pending again').waitFor()
        assert.equal((await stored()).status, 'pending')
        await eventually(async () => assert.equal(await approve.count(), 1))
        // Again, since nothing seemed to happen.
        const pressed = page.evaluate(`new Promise(resolve => {
          const observer = new MutationObserver(() => {
            const undo = document.querySelector('button[aria-label^="Undo"]')
            if (!undo) return
            observer.disconnect()
            setTimeout(() => undo.click(), 500)
            setTimeout(resolve, 600)
          })
          observer.observe(document.body, { subtree: true, childList: true, attributes: true })
        })`)
        await idle(approve).click()
        await pressed
        await settled(page)
        assert.equal((await stored()).status, 'active')

        await page.getByRole('link', { name: 'Edit' }).click()
        await page.getByRole('textbox', { name: 'Account e-mail' }).fill('admin@example.com')
        await page.getByLabel('Notes').fill('Pays late')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText('Another account has this e-mail address.').first().waitFor()
        assert.equal(await page.getByLabel('Notes').inputValue(), 'Pays late')
        await page.getByRole('textbox', { name: 'Account e-mail' }).fill('fresher@example.com')
        await page.getByLabel('Rate', { exact: true }).fill('')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText('Pays late').first().waitFor()
        await page.getByText('fresher@example.com').first().waitFor()
        assert.equal((await stored()).rate, '')

        await page.getByRole('button', { name: 'Delete' }).click()
        const question = page.getByRole('alertdialog')
        assert.match(
          await question.innerText(),
          /What stays: the account fresh, the referrals and the ledger, and every payout/,
        )
        await question.getByRole('button', { name: 'Cancel' }).click()
        await question.waitFor({ state: 'hidden' })
        assert.equal((await world().api('GET', `/affiliates/${id}`)).status, 200)
        await page.getByRole('button', { name: 'Delete' }).click()
        await question.getByRole('button', { name: 'Delete' }).click()
        await page.getByRole('heading', { level: 1, name: 'Affiliates' }).waitFor()
        assert.equal((await world().api('GET', `/affiliates/${id}`)).status, 404)
      }))

    test('create with an existing account - it is searched for and linked', () =>
      world().work('/users/create', async page => {
        await page.getByLabel('Login name').fill('linkme')
        await page.getByLabel('E-mail').fill('linkme@example.com')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText('Account linkme created').waitFor()
        await goTo(page, '/affiliates/create')
        await page.getByLabel('An existing account').check()
        await page.getByRole('combobox', { name: 'Account' }).fill('linkme')
        await page.getByRole('option', { name: /linkme/ }).click()
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByRole('heading', { level: 1, name: 'linkme' }).waitFor()
        // An account's address is nothing that PayPal pays to, until it is entered for payments.
        await page.getByText('linkme@example.com (the account’s, for runs by plain CSV)').waitFor()
        const details = page.getByRole('region', { name: 'Payment details' })
        await details.getByText('no payment e-mail of their own: only runs by plain CSV pay').waitFor()
        const administrator = await world().administrator()
        const { body: accounts } = await administrator.get('/users?search=linkme')
        assert.equal((await administrator.post(`/erasures/users/${accounts[0].id}`, {})).status, 200)
        await page.reload()
        await details.getByText('there is no e-mail address: no run pays this affiliate').waitFor()
        assert.equal(await page.getByText('runs by plain CSV').count(), 0)
      }))

    test('undo of one affiliate - is not offered on the page of another, who is opened right behind', async () => {
      const made = async (name: string, status: string): Promise<number> => {
        const args = { create_user: true, payment_email: `${name}@example.com`, status }
        return (await world().make('/affiliates', args)).id
      }
      const [moved, other] = [await made('shifted', 'pending'), await made('untouched', 'active')]
      await world().work(`/affiliates/${other}/show`, async page => {
        const heading = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor()
        await heading('untouched')
        await go(page, `/affiliates/${moved}/show`)
        await heading('shifted')
        await page.getByRole('button', { name: /^Approve/ }).click()
        const undo = idle(page.getByRole('button', { name: /^Undo/ }))
        await undo.waitFor()
        await go(page, `/affiliates/${other}/show`)
        await heading('untouched')
        assert.equal(await page.getByRole('button', { name: /^Undo/ }).count(), 0)
      })
    })

    test('two people move the same affiliate to a group - the second is told which by its name', async () => {
      const args = { create_user: true, payment_email: 'contested@example.org' }
      const affiliate: { id: number } = await world().make('/affiliates', args)
      const [press, partners] = [
        await world().make('/groups', { name: 'Press of theirs' }),
        await world().make('/groups', { name: 'Partners of ours' }),
      ]
      await world().work(`/affiliates/${affiliate.id}`, async page => {
        await page.getByLabel('Group').fill('Partners of')
        await page.getByRole('option', { name: 'Partners of ours' }).click()
        await world().api('PATCH', `/affiliates/${affiliate.id}`, { group_id: press.id })
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText('It is Press of theirs by now.').waitFor()
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText('Affiliate saved').waitFor()
        const { group } = await world().read(`/affiliates/${affiliate.id}?group=1`)
        assert.equal(group.group_id, partners.id)
      })
    })

    test('several at once - those that were chosen are rejected, after a question', async () => {
      const made: { id: number }[] = []
      for (const name of ['bulk1', 'bulk2']) {
        const args = { create_user: true, payment_email: `${name}@example.net` }
        made.push(await world().make('/affiliates', args))
      }
      await world().work('/affiliates?filter={"search":"@example.net"}', async page => {
        await page.getByText('bulk2@example.net').first().waitFor()
        for (const row of await page.locator('tbody').getByRole('checkbox').all()) await row.check()
        await page.getByRole('button', { name: 'Reject', exact: true }).click()
        const question = page.getByRole('alertdialog')
        await question.getByText('Reject 2 affiliates?').waitFor()
        await question.getByRole('button', { name: 'Reject' }).click()
        await page.getByText('2 affiliates rejected').waitFor()
        for (const { id } of made) {
          assert.equal((await world().read(`/affiliates/${id}`)).status, 'rejected')
        }
      })
    })

    test('several at once, twice - what was chosen before, or under another filter, is left alone', async () => {
      const made: { id: number }[] = []
      for (const name of ['twice1', 'twice2', 'twice3', 'twice4']) {
        const args = { create_user: true, payment_email: `${name}@example.net` }
        made.push(await world().make('/affiliates', args))
      }
      const states = async () => {
        const all = await Promise.all(made.map(({ id }) => world().read(`/affiliates/${id}`)))
        return all.map(({ status }) => status)
      }
      await world().work('/affiliates', async page => {
        const choose = (name: string) => page.getByRole('checkbox', { name: `Choose ${name}@` }).check()
        const act = async (action: string) => {
          await page.getByRole('button', { name: action, exact: true }).click()
          const question = page.getByRole('alertdialog')
          await question.getByRole('button', { name: action }).click()
          await question.waitFor({ state: 'hidden' })
        }
        const bar = page.getByRole('region', { name: 'Chosen' })
        const top = async () => (await page.getByRole('row').nth(1).boundingBox())!.y
        await page.getByLabel('Search').pressSequentially('twice', { delay: 60 })
        await page.getByText('1-4 of 4').waitFor()
        const topOfNone = await top()
        for (const name of ['twice1', 'twice2', 'twice3']) await choose(name)
        await bar.waitFor()
        assert.equal(await top(), topOfNone)
        await act('Approve')
        await page.getByText('3 affiliates approved').waitFor()
        await bar.waitFor({ state: 'hidden' })
        assert.equal(
          await page.evaluate('document.activeElement.contains(document.querySelector("tbody"))'),
          true,
        )
        assert.notEqual(await page.evaluate('document.activeElement.tagName'), 'BODY')
        assert.deepEqual(await states(), ['active', 'active', 'active', 'pending'])

        await choose('twice4')
        await bar.getByText('1 chosen').waitFor()
        await act('Reject')
        await page.getByText('1 affiliate rejected').waitFor()
        assert.deepEqual(await states(), ['active', 'active', 'active', 'rejected'])

        await choose('twice1')
        await bar.getByText('1 chosen').waitFor()
        await page.getByLabel('Search').press('End')
        await page.getByLabel('Search').pressSequentially('2', { delay: 60 })
        await page.getByText('1-1 of 1').waitFor()
        await bar.waitFor({ state: 'hidden' })
        await choose('twice2')
        await act('Deactivate')
        await page.getByText('1 affiliate deactivated').waitFor()
        assert.deepEqual(await states(), ['active', 'inactive', 'active', 'rejected'])

        // Until the answer comes, the rows of the filter before are there, and cannot be ticked.
        await page.getByLabel('Search').fill('twice')
        await page.getByText('1-4 of 4').waitFor()
        const asked = Promise.withResolvers<void>()
        await page.route(/affiliates\?.*search=twice1/, async route => {
          await asked.promise
          await route.continue()
        })
        await page.getByLabel('Search').fill('twice1')
        await page.waitForURL(/twice1/)
        await page.getByRole('checkbox', { name: 'Choose twice3@', disabled: true }).waitFor()
        await page.getByLabel('Choose all on this page').and(page.locator(':disabled')).waitFor()
        asked.resolve()
        await page.getByText('1-1 of 1').waitFor()
        await page.getByLabel('Choose all on this page').check()
        await bar.getByText('1 chosen').waitFor()

        // Of whatever status they are: it is done to those that the question names.
        await page.getByLabel('Search').fill('twice')
        await page.getByText('1-4 of 4').waitFor()
        for (const name of ['twice1', 'twice2', 'twice3', 'twice4']) await choose(name)
        await page.getByRole('button', { name: 'Deactivate', exact: true }).click()
        const question = page.getByRole('alertdialog')
        await question.getByText('It changes 2 active. 2 others stay as they are.').waitFor()
        await question.getByRole('button', { name: 'Deactivate' }).click()
        const outcome = page.getByRole('dialog', { name: '2 affiliates deactivated, 2 not' })
        await outcome.getByText(`#${made[3]!.id}: It is rejected, and not active.`).waitFor()
        await outcome.getByRole('button', { name: 'Close' }).click()
        assert.deepEqual(await states(), ['inactive', 'inactive', 'inactive', 'rejected'])
      })
    })

    test('phone - a name of one long word makes no page wider than the window', async () => {
      const long = 'Rindfleischetikettierungsueberwachungsaufgabenuebertragungsgesetz'
      const args = { create_user: true, payment_email: 'longname@example.org' }
      const affiliate: { id: number; user_id: number } = await world().make('/affiliates', args)
      await world().work(
        `/affiliates/${affiliate.id}/show`,
        async page => {
          await page.request.patch(`/admin/api/users/${affiliate.user_id}`, {
            headers: { 'x-admin-request': '1' },
            data: { display_name: long },
          })
          const payout = await world().make('/payouts', { affiliate_id: affiliate.id, amount: 5 })
          const { id } = affiliate
          for (const path of [`/affiliates/${id}`, `/affiliates/${id}/ledger`, `/payouts/${payout.id}`]) {
            await page.goto(`/admin${path}`)
            await page.getByText(long).first().waitFor()
            assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360, path)
          }
        },
        { width: 360, height: 740 },
      )
    })

    test('names that cannot be read - nobody is called deleted for it', () =>
      world().work('/', async page => {
        await settled(page)
        const names = /admin\/api\/affiliates\?.*affiliate_id=/
        await page.route(names, route => route.abort())
        const open = async (path: string) => {
          const failed = page.waitForEvent('requestfailed', request => names.test(request.url()))
          await page.goto(`/admin${path}`)
          await failed
          await page.waitForTimeout(200)
          assert.equal(await page.getByText('(deleted)').count(), 0, path)
        }
        await open('/payouts')
        await open('/affiliates/12/ledger')
        await page.getByRole('heading', { level: 1, name: 'Ledger', exact: true }).waitFor()
        await page.getByRole('link', { name: 'Affiliate 12' }).waitFor()
      }))

    test('phone - several are chosen from their cards, and sorted', async () => {
      const made: { id: number }[] = []
      for (const name of ['carda', 'cardb']) {
        const args = { create_user: true, payment_email: `${name}@example.net`, status: 'pending' }
        made.push(await world().make('/affiliates', args))
      }
      await world().work(
        '/affiliates?filter={"search":"card"}',
        async page => {
          await page.getByText('1-2 of 2').waitFor()
          await page.getByLabel('Sort by').click()
          await page.getByRole('option', { name: 'Status' }).click()
          await page.waitForURL(/sort=status/)
          await page.getByRole('button', { name: 'Ascending: reverse' }).click()
          await page.waitForURL(/order=DESC/)
          for (const name of ['carda', 'cardb']) {
            await page.getByRole('checkbox', { name: `Choose ${name}@` }).check()
          }
          await page.getByRole('button', { name: 'Reject', exact: true }).click()
          await page.getByRole('alertdialog').getByRole('button', { name: 'Reject' }).click()
          await page.getByText('2 affiliates rejected').waitFor()
          for (const { id } of made) {
            assert.equal((await world().read(`/affiliates/${id}`)).status, 'rejected')
          }
        },
        { width: 360, height: 740 },
      )
    })

    test('filters, sort, pages and CSV - the list, its totals and the file agree with the API', () =>
      world().work('/affiliates', async page => {
        const pending = await world().read('/affiliates?status=pending&number=-1')
        await page.getByRole('button', { name: /^Pending/ }).click()
        await page.getByText(`of ${pending.length}`).waitFor()
        await settled(page)
        assert.ok(
          (await page.getByRole('button', { name: /^Pending/ }).innerText()).includes(`${pending.length}`),
        )
        assert.deepEqual([...new Set(await column(page, 'Status'))], ['Pending'])

        const file = await downloaded(page, 'Export CSV')
        assert.match(file.name, /^affiliates-.*\.csv$/)
        assert.equal(file.text.trim().split('\r\n').length, pending.length + 1)

        const earnings = pending.map((affiliate: { earnings: number }) => affiliate.earnings)
        await page.getByRole('button', { name: 'Earnings' }).click()
        const sorted = earnings.sort((a: number, b: number) => b - a).slice(0, 25)
        await eventually(async () => {
          const shown = await column(page, 'Earnings')
          assert.deepEqual(
            shown.map(text => Number(text.replace(/[$,]/g, ''))),
            sorted,
          )
        })

        const all = await world().read('/affiliates?number=-1')
        await page.getByRole('button', { name: /^All/ }).click()
        await page.getByText(`of ${all.length}`).waitFor()
        await page.getByRole('button', { name: 'Go to page 2' }).click()
        await page.waitForURL(/page=2/)
        await page.getByText(/^26-50 of/).waitFor()

        await page.getByLabel('Search').fill('nobody is called this')
        await page.getByText('Nothing matches').waitFor()
        await page.getByRole('button', { name: 'Clear filters' }).first().click()
        await page.getByText(/^1-25 of/).waitFor()
        const from = page.getByLabel('Registered from')
        await from.pressSequentially('01012999', { delay: 60 })
        await page.getByText('Nothing matches').waitFor()
        // Without a last day, a browser takes six digits for a year, and with them what was meant for the day.
        assert.equal(await from.getAttribute('max'), '9999-12-31')
      }))
  })
}

async function pick(record: Promise<Record<string, unknown>>, ...names: string[]): Promise<unknown[]> {
  const found = await record
  return names.map(name => found[name])
}
