import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { BROWSER } from '../harness.ts'
import { goTo } from './pages.ts'
import { eventually, type World } from './world.ts'

export function linkScenarios(world: () => World): void {
  describe('links', () => {
    test('where links lead to is set, a link is made, leads deeper, and its visit is seen', () =>
      world().work('/affiliates/1/show', async page => {
        await page.getByText('This link leads nowhere yet').waitFor()
        await goTo(page, '/links/create')
        await page.getByText('This link leads nowhere yet').waitFor()
        await page.getByRole('link', { name: 'under Settings, Tracking' }).click()
        await page.getByLabel('Programme page').fill('https://shop.example/welcome')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText('Settings saved').waitFor()

        const affiliate = await world().make('/affiliates', {
          create_user: true,
          payment_email: 'linker@example.com',
          username: 'linker',
          status: 'active',
        })
        // The link of an affiliate is there to copy, and leads to the programme page.
        await goTo(page, `/affiliates/${affiliate.id}/show`)
        const own = `${world().server.announced.url}/r/${affiliate.id}`
        await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
        await page.getByRole('button', { name: 'Copy default link' }).click()
        await page.getByRole('button', { name: 'Copied default link' }).waitFor()
        const copied = await page.evaluate<string>('navigator.clipboard.readText()')
        assert.equal(copied, own)
        const first = await fetch(copied, { method: 'HEAD', redirect: 'manual' })
        assert.match(first.headers.get('location')!, /^https:\/\/shop\.example\/welcome/)
        assert.equal(await page.getByText('This link leads nowhere yet').count(), 0)
        await page.getByRole('link', { name: own }).click()
        await page.getByRole('heading', { level: 1, name: `Link ${affiliate.id}` }).waitFor()
        await page.getByRole('link', { name: 'Edit' }).click()
        // It keeps its code and its affiliate.
        await page.locator('input[name=code]:disabled').waitFor()
        assert.ok(await page.getByRole('combobox', { name: 'Affiliate' }).isDisabled())
        await goTo(page, `/affiliates/${affiliate.id}/show`)
        await page.getByRole('button', { name: 'Copy default link' }).waitFor()

        await page.getByRole('link', { name: 'Links', exact: true }).click()
        await page.getByRole('link', { name: 'Create link' }).click()
        await page.getByRole('heading', { level: 1, name: 'Create link' }).waitFor()
        await page.getByRole('combobox', { name: 'Affiliate' }).fill('linker')
        await page.getByRole('option', { name: /linker/ }).click()
        await page.getByLabel('Code').fill('spring-sale')
        await page.getByLabel('Campaign').fill('spring-fair')
        await page.getByLabel('Leads to').fill('https://evil.example/')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText('must be a URL on the host of the programme page').waitFor()
        await page.getByLabel('Leads to').fill('https://shop.example/spring')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByRole('heading', { level: 1, name: 'Link spring-sale' }).waitFor()
        await page.getByRole('img', { name: 'QR code of the address' }).waitFor()
        await page.getByText(`${world().server.announced.url}/r/spring-sale`).waitFor()
        await page.getByLabel('Deep link').fill('/shoes/7')
        const deeper = `${world().server.announced.url}/r/spring-sale?to=%2Fshoes%2F7`
        await page.getByText(deeper).waitFor()
        await page.getByText('The address above leads to https://shop.example/shoes/7').waitFor()
        // What is not allowed would lead to the link's own page, so no address is offered for it.
        await page.getByLabel('Deep link').fill('https://elsewhere.example/shoes')
        await page
          .getByText(
            'This is no page on an allowed host: the link would lead to https://shop.example/spring instead.',
          )
          .waitFor()
        assert.equal(await page.getByText('/r/spring-sale').count(), 0)
        assert.equal(await page.getByRole('button', { name: 'Copy address' }).count(), 0)
        assert.equal(await page.getByRole('img', { name: 'QR code of the address' }).count(), 0)
        // More than a QR code holds, which is no reason to lose what was typed.
        const long = `/${'x'.repeat(2500)}`
        await page.getByLabel('Deep link').fill(long)
        await page.getByText('It is too long for a QR code.').waitFor()
        assert.equal(await page.getByLabel('Deep link').inputValue(), long)
        await page.getByLabel('Deep link').fill('//shop.example/shoes/7')
        await page.getByText(`/r/spring-sale?to=${encodeURIComponent('//shop.example/shoes/7')}`).waitFor()
        await page.getByRole('img', { name: 'QR code of the address' }).waitFor()

        await page.getByRole('link', { name: 'Tracking', exact: true }).click()
        await page.getByText('No page has loaded the script yet.').waitFor()
        const follow = () => fetch(deeper, { redirect: 'manual', headers: { 'user-agent': BROWSER } })
        const led = await follow()
        assert.match(led.headers.get('location')!, /^https:\/\/shop\.example\/shoes\/7\?aff_click=/)
        await page
          .getByRole('table', { name: 'The latest visits' })
          .getByText('https://shop.example/shoes/7')
          .waitFor()
        await fetch(`${world().server.announced.url}/a`, {
          method: 'POST',
          headers: { 'user-agent': BROWSER },
          body: new URLSearchParams({ ref: String(affiliate.id), url: 'https://shop.example/page' }),
        })
        const script = page.getByRole('table', { name: 'The script on your pages' })
        await script.getByText('Works: the visit was counted').waitFor()
        await page.setViewportSize({ width: 360, height: 740 })
        const card = page.getByRole('list', { name: 'The script on your pages' })
        const { x, width } = (await card.getByText('Works: the visit was counted').boundingBox())!
        assert.ok(x >= 0 && x + width <= 360, `${x} ${width}`)
        await card.getByText('https://shop.example/page').waitFor()
        await page.setViewportSize({ width: 1280, height: 900 })
        await page.getByRole('button', { name: 'Copy script' }).click()
        const documented = readFileSync(new URL('../../docs/tracking.md', import.meta.url), 'utf8')
        const [, snippet = ''] = /## The script\n.*?```html\n(.*?)\n```/s.exec(documented)!
        const expected = snippet.replace('https://aff.example', world().server.announced.url)
        await eventually(async () =>
          assert.equal(await page.evaluate<string>('navigator.clipboard.readText()'), expected),
        )
        // More often than most of the demo's campaigns, so that it is among those that are listed.
        for (let more = 0; more < 9; more += 1) await follow()
        const campaigns = page.getByRole('table', { name: 'Campaigns' })
        // Visits are written a little later than they are answered.
        await eventually(async () => {
          await page.reload()
          await campaigns.waitFor()
          assert.equal(await campaigns.getByText('spring-fair', { exact: true }).count(), 1)
        })

        // Nobody has changed them, so nothing is in the log.
        const [visit] = await world().read(`/visits?affiliate_id=${affiliate.id}`)
        const history = page.getByRole('region', { name: 'History' })
        await goTo(page, `/visits/${visit.id}/show`)
        await history
          .getByText('Visits are counted as they come: the audit log has no entry for each.')
          .waitFor()
        const [standard] = await world().read(`/links?code=${affiliate.id}`)
        await goTo(page, `/links/${standard.id}/show`)
        await history.getByText('it was made together with its affiliate').waitFor()
      }))

    test('visitors reach links and script at another address - it is what is shown and copied', () =>
      world().work('/settings', async page => {
        const save = async (address: string) => {
          await page.getByLabel('Address for visitors').fill(address)
          // What the first one says is still there at the second.
          await Promise.all([
            page.waitForResponse(answer => answer.request().method() === 'PATCH' && answer.ok()),
            page.getByRole('button', { name: 'Save' }).click(),
          ])
        }
        await save('https://shop.example/go/')
        await goTo(page, '/affiliates/1/show')
        await page.getByRole('link', { name: 'https://shop.example/go/r/1', exact: true }).waitFor()
        await goTo(page, '/tracking')
        await page.getByText('src="https://shop.example/go/a.js"').waitFor()
        await goTo(page, '/settings')
        await save('')
        await goTo(page, '/affiliates/1/show')
        const own = `${world().server.announced.url}/r/1`
        await page.getByRole('link', { name: own, exact: true }).waitFor()
      }))
  })
}
