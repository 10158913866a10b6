import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { goTo } from './pages.ts'
import type { World } from './world.ts'

export function ruleScenarios(world: () => World): void {
  describe('commission rules', () => {
    test('a rule for a group: what a sale would earn is said while it is written, and its edit is a version', async () => {
      const { id: group_id } = await world().make('/groups', { name: 'Magazines' })
      const affiliate = await world().make('/affiliates', {
        create_user: true,
        username: 'writer',
        payment_email: 'writer@example.com',
        status: 'active',
        group_id,
      })
      await world().work('/rules', async page => {
        await page.getByRole('link', { name: 'Create rule' }).first().click()
        await page.getByLabel('Name').fill('Readers')
        const preview = page.getByRole('region', { name: 'What a sale would earn' })
        await preview.getByText('Enter a rate to see what a sale would earn.').waitFor()
        await page.getByRole('textbox', { name: 'Rate', exact: true }).fill('12.4')
        await preview.getByText('This sale would earn 12.40 USD.').waitFor()
        // Enter here saves no rule.
        await preview.getByLabel('Amount (USD)').press('Enter')
        await preview.getByLabel('Amount (USD)').press('Enter')
        assert.match(page.url(), /rules\/create$/)
        for (const kind of ['Lead', 'Sale']) {
          await page.getByRole('combobox', { name: 'Kinds of sale' }).click()
          await page.getByRole('option', { name: 'Lead' }).click()
          await page.keyboard.press('Escape')
          await preview.getByRole('combobox', { name: 'Kind' }).getByText(kind).waitFor()
        }
        // Only a percentage is taken of something.
        const pays = async (name: string) => {
          await page.getByRole('combobox', { name: 'Pays' }).click()
          await page.getByRole('option', { name }).click()
        }
        await pays('An amount for the sale')
        await page.getByText('= $12.40', { exact: true }).waitFor()
        assert.equal(await page.getByRole('combobox', { name: 'Of', exact: true }).count(), 0)
        await pays('A percentage')
        await page.getByRole('combobox', { name: 'Of', exact: true }).waitFor()
        await page.getByRole('button', { name: 'Add condition' }).click()
        await preview.getByText('Finish the conditions, or remove them').waitFor()
        await page.getByLabel('Values').fill('Magazine, Book')
        await preview.getByText('This sale would earn 20.00 USD.').waitFor()
        await preview.getByText('It asks for a product that is Magazine or Book.').waitFor()
        await preview.getByLabel('Product').fill('book')
        await preview.getByText('This sale would earn 12.40 USD.').waitFor()
        await page.getByRole('combobox', { name: 'Group' }).pressSequentially('Magaz', { delay: 60 })
        await page.getByRole('option', { name: 'Magazines' }).click()
        await page.getByRole('button', { name: 'Add condition' }).click()
        await page.getByRole('combobox', { name: 'Of the sale' }).last().click()
        await page.getByRole('option', { name: 'Amount of the sale' }).click()
        await page.getByRole('combobox', { name: 'How', exact: true }).getByText('is at least').waitFor()
        await page.getByLabel('Number', { exact: true }).fill('10,5')
        await preview.getByText('Finish the conditions, or remove them').waitFor()
        await page.getByRole('combobox', { name: 'Of the sale' }).last().click()
        await page.getByRole('option', { name: "Number of the customer's order" }).click()
        await page.getByRole('combobox', { name: 'How', exact: true }).last().click()
        await page.getByRole('option', { name: 'is below' }).click()
        await page.getByLabel('Number', { exact: true }).fill('1')
        await page.getByLabel('Number', { exact: true }).blur()
        await page.getByText('The first order is number 1').waitFor()
        await page.getByRole('button', { name: 'Remove condition' }).last().click()
        await preview.getByLabel('Tax in it').fill('1,5')
        await preview.getByText('Tax in it: write a number, with a point').waitFor()
        await preview.getByLabel('Tax in it').fill('')
        await page.getByLabel('Holding period').fill('14')
        await preview.getByText('It would be pending for 14 days.').waitFor()
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByRole('heading', { level: 1, name: 'Commission rules' }).waitFor()
        await page.getByText('Product is one of Magazine, Book').waitFor()
        await page.getByRole('link', { name: 'Readers' }).first().click()
        await page.getByRole('textbox', { name: 'Rate', exact: true }).fill('15')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByRole('cell', { name: '15%' }).waitFor()
      })
      const [rule] = await world().read(`/rules?group_id=${group_id}&status=current`)
      assert.deepEqual(
        [rule.version, rule.rate, rule.hold_days, rule.conditions],
        [2, '15', 14, [{ field: 'product', is: ['Magazine', 'Book'] }]],
      )
      const referral = await world().make('/referrals', {
        affiliate_id: affiliate.id,
        order_total: 100,
        products: [{ name: 'Book', price: 100 }],
      })
      assert.equal(referral.amount, '15.00')
      await world().work(`/referrals/${referral.id}/show`, async page => {
        const why = page.getByRole('region', { name: 'Why' })
        await why.getByText('The rule “Readers”').waitFor()
        await why.getByText('It is pending until').waitFor()
      })
      await world().work(`/affiliates/${affiliate.id}/show`, async page => {
        await page.getByText(/^15%.*, by rules$/).waitFor()
        await page.getByRole('link', { name: 'Edit' }).click()
        await page.getByLabel('Rate type').click()
        await page.getByRole('option', { name: 'flat' }).click()
        await page.getByText(/the default number with this type: \$\d+\.00 per sale/).waitFor()
      })
      await world().api('DELETE', `/rules/${rule.id}`)
    })

    test('a value with a comma - is one value, shown in quotes, and stays so when the rule is renamed', async () => {
      const products = ['Shirt, blue', 'Disk 5"', '"Best", they say']
      const { series } = await world().make('/rules', {
        name: 'Commas',
        rate: 5,
        rate_type: 'percentage',
        conditions: [{ field: 'product', is: products }],
      })
      const current = async () => {
        const rules = await world().read('/rules?status=current&number=-1')
        return rules.find((rule: { series: number }) => rule.series === series)
      }
      await world().work('/rules', async page => {
        await page.getByText('Product is one of "Shirt, blue", Disk 5", """Best"", they say"').waitFor()
        await page.getByRole('link', { name: 'Commas', exact: true }).click()
        await page.getByLabel('Name').fill('Renamed')
        // Until the list is read, nothing leads to the version before.
        await page.route(/\/rules\?.*offset=/, async route => {
          await new Promise(resolve => setTimeout(resolve, 1000))
          await route.continue()
        })
        await page.getByRole('button', { name: 'Save' }).click()
        const row = page.getByRole('link', { name: 'Renamed' })
        await row.waitFor()
        const renamed = await current()
        assert.deepEqual(renamed.conditions, [{ field: 'product', is: products }])
        assert.match((await row.getAttribute('href'))!, new RegExp(`/rules/${renamed.id}$`))
        await page.unrouteAll({ behavior: 'wait' })
        await row.click()
        await page.getByLabel('Values').fill('"Hat, red" , Socks,"Belt')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText('Product is one of "Hat, red", Socks, """Belt"').waitFor()
        assert.deepEqual((await current()).conditions, [
          { field: 'product', is: ['Hat, red', 'Socks', '"Belt'] },
        ])
      })
      await world().api('DELETE', `/rules/${(await current()).id}`)
    })

    test('decimal comma - rates in lists have it as well', async () => {
      const percentage = {
        name: 'Comma of a rate',
        rate: 7.525,
        rate_type: 'percentage',
        conditions: [{ field: 'amount', at_least: 12.5 }],
      }
      const { id } = await world().make('/rules', percentage)
      await world().work(
        '/rules',
        async page => {
          const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: percentage.name }) })
          await row.getByText('7,525%').waitFor()
          await row.getByText('Amount of the sale is at least 12,50 $', { exact: true }).waitFor()
        },
        { locale: 'de-DE' },
      )
      await world().api('DELETE', `/rules/${id}`)
    })

    test('tiers - a limit of sales is a number, and one of their volume an amount, in the list and the form', async () => {
      const { id } = await world().make('/rules', {
        name: 'Tiers',
        rate: 25,
        rate_type: 'percentage',
        conditions: [
          { field: 'sales_ever', at_least: 1200 },
          { field: 'volume_in_month', at_least: 12_500, below: 50_000.5 },
        ],
      })
      await world().work('/rules', async page => {
        const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'Tiers' }) })
        const texts = [
          'Sales of the affiliate so far is at least 1,200',
          'Volume of the affiliate in the month is at least $12,500.00',
          'Volume of the affiliate in the month is below $50,000.50',
        ]
        for (const text of texts) await row.getByText(text, { exact: true }).waitFor()
        await row.getByRole('link').click()
        await page.getByText('= $50,000.50', { exact: true }).waitFor()
        await page.getByLabel('Number', { exact: true }).nth(1).fill('12500.5')
        await page.getByText('= $12,500.50', { exact: true }).waitFor()
        assert.equal(await page.getByText('= $1,200.00').count(), 0)
        await goTo(page, '/tools/audit-log?filter={"record":"rule"}')
        const entry = page.getByRole('row').filter({ hasText: 'Tiers' })
        await entry.getByText(texts.join('; ')).waitFor()
        await entry.getByText('A percentage').waitFor()
      })
      await world().api('DELETE', `/rules/${id}`)
    })

    test('decimal comma - amounts of conditions and of the sale that is tried are taken as the rate is', () =>
      world().work(
        '/rules/create',
        async page => {
          await page.getByRole('textbox', { name: 'Rate', exact: true }).pressSequentially('7,5')
          await page.getByRole('button', { name: 'Add condition' }).click()
          await page.getByRole('combobox', { name: 'Of the sale' }).click()
          await page.getByRole('option', { name: 'Amount of the sale' }).click()
          await page.getByLabel('Number', { exact: true }).pressSequentially('1.049,90')
          const preview = page.getByRole('region', { name: 'What a sale would earn' })
          await preview.getByLabel('Amount (USD)').fill('')
          await preview.getByLabel('Amount (USD)').pressSequentially('1.100,50')
          await preview.getByText('This sale would earn 82,54 USD.').waitFor()
        },
        { locale: 'de-DE' },
      ))

    test('a rule that is changed - what a sale would earn is dimmed until it is that of the change', () =>
      world().work('/rules/create', async page => {
        const rate = page.getByRole('textbox', { name: 'Rate', exact: true })
        await rate.fill('5')
        const earns = page.getByText('This sale would earn 5.00 USD.')
        await earns.waitFor()
        const answer = Promise.withResolvers<void>()
        await page.route(/rules\/preview/, async route => {
          await answer.promise
          await route.continue()
        })
        await rate.fill('6')
        await page.locator('[aria-busy=true]').filter({ has: earns }).waitFor()
        answer.resolve()
        await page.locator('[aria-busy=false]').getByText('This sale would earn 6.00 USD.').waitFor()
      }))

    test('the group of an affiliate - none at first, chosen, and taken away again; a choice of others meanwhile stays', async () => {
      const [group, other] = [
        await world().make('/groups', { name: 'Bakers' }),
        await world().make('/groups', { name: 'Cooks' }),
      ]
      const { id } = await world().make('/affiliates', {
        create_user: true,
        username: 'baker',
        payment_email: 'baker@example.com',
      })
      const groupOf = async () => (await world().read(`/affiliates/${id}?group=1`)).group.group_id
      await world().work(`/affiliates/${id}`, async page => {
        const field = page.getByRole('combobox', { name: 'Group' })
        const save = async () => {
          await page.getByRole('button', { name: 'Save' }).click()
          await page.getByRole('link', { name: 'Edit' }).click()
          await field.waitFor()
        }
        await field.pressSequentially('Bak', { delay: 60 })
        await page.getByRole('option', { name: 'Bakers' }).click()
        await save()
        assert.equal(await groupOf(), group.id)
        await field.hover()
        await page.getByRole('button', { name: 'Clear value' }).click()
        assert.equal(await page.getByText('Invalid argument').count(), 0)
        await save()
        assert.equal(await groupOf(), 0)
        assert.equal(await field.inputValue(), '')
        assert.equal(await page.getByText('Invalid argument').count(), 0)
        await world().api('PATCH', `/affiliates/${id}`, { group_id: other.id })
        await page.getByLabel('Notes').pressSequentially('Bread')
        await save()
        assert.equal(await groupOf(), other.id)
        assert.equal(await field.inputValue(), 'Cooks')
      })
    })

    test('groups, coupons and exchange rates - each is made in its form', async () => {
      const affiliate = await world().make('/affiliates', {
        create_user: true,
        username: 'couponer',
        payment_email: 'couponer@example.com',
      })
      const draft = await world().make('/referrals', {
        affiliate_id: affiliate.id,
        amount: 10,
        currency: 'EUR',
      })
      assert.equal(draft.status, 'draft')
      await world().work('/groups', async page => {
        await page.getByRole('link', { name: 'Create group' }).first().click()
        await page.getByLabel('Name').fill('Podcasts')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByRole('link', { name: 'Podcasts' }).waitFor()
      })
      await world().work('/coupons', async page => {
        await page.getByRole('link', { name: 'Create coupon' }).first().click()
        await page.getByLabel('Code').fill('POD10')
        await page.getByRole('combobox', { name: 'Affiliate' }).pressSequentially('couponer', { delay: 60 })
        await page.getByRole('option', { name: /couponer/ }).click()
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByRole('link', { name: 'POD10' }).waitFor()
      })
      await world().work(`/referrals/${draft.id}/show`, async page => {
        const enter = page.getByRole('link', { name: 'Enter the exchange rate' })
        await enter.waitFor()
        assert.equal(await page.getByRole('button', { name: /^Approve/ }).count(), 0)
        await page.getByRole('link', { name: 'Edit' }).click()
        await page.getByRole('combobox', { name: 'Status' }).getByText('Draft').waitFor()
        await page.goBack()
        await enter.click()
        assert.equal(await page.getByLabel('From currency').inputValue(), 'EUR')
        assert.equal(await page.getByLabel('Valid from').inputValue(), draft.date.slice(0, 10))
        await page.getByRole('textbox', { name: /^Rate/ }).fill('1.0842')
        await page.getByLabel('Valid from').fill('2020-01-01')
        await page.getByRole('button', { name: 'Save' }).click()
        // Back to what waited for it.
        await page.getByRole('heading', { level: 1, name: `Referral ${draft.id}` }).waitFor()
        await page.getByText('10.84').first().waitFor()
        await goTo(page, '/exchange-rates')
        await page.getByText('1 EUR = 1.0842 USD').first().waitFor()
        // What the rate is compared with arrives after Save was pressed, as on a slow connection.
        const pressed = Promise.withResolvers<void>()
        await page.route(/exchange-rates\?.*from_currency=EUR/, async route => {
          await pressed.promise
          await route.continue()
        })
        await page.getByRole('link', { name: 'Enter rate' }).first().click()
        await page.getByLabel('From currency').fill('eur')
        await page.getByRole('textbox', { name: /^Rate/ }).fill('10.842')
        await page.getByLabel('Valid from').fill('2020-01-02')
        await page.getByRole('button', { name: 'Save' }).click()
        pressed.resolve()
        await page.getByText(/10\.842 is 10 times the rate of .*2020/).waitFor()
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText('1 EUR = 10.842 USD').first().waitFor()
      })
      assert.equal((await world().read(`/referrals/${draft.id}`)).amount, '10.84')
    })
  })
}
