/** Sales that two nodes record at the same moment count one another, in whatever way they are reported. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { engines, listen, openDatabase, type Send, Service, startService } from '../../../test/harness.ts'
import { features } from '../../app.ts'
import { checkDatabase } from '../../operations/check/rules.ts'

const MOST = 45
/** One second for all: what is later than a sale does not count for it, whichever is recorded first. */
const AT = '2026-01-02 03:04:05'

interface Named {
  readonly context: string
  readonly reference: string
  readonly affiliate_id: number
}

const unclaimed = ({ context, reference }: Omit<Named, 'affiliate_id'>) => ({
  kind: 'sale',
  context,
  reference,
  amount: 10,
  occurred_at: AT,
})
const sale = (named: Named) => ({ ...unclaimed(named), affiliate_id: named.affiliate_id })
const attribution = (named: Named) => ({ kind: 'attribution', ...named })
const referral = (named: Named) => ({ ...named, order_total: 10, date: AT })

async function sendEach(node: Service, path: string, bodies: readonly object[], options?: Send) {
  const replies = await Promise.all(bodies.map(body => node.post(path, body, options)))
  for (const { status, body } of replies) assert.equal(status, 201, JSON.stringify(body))
}

async function sendLines(node: Service, path: string, bodies: readonly object[]) {
  const text = bodies.map(body => JSON.stringify(body)).join('\n')
  const { status, body } = await node.post(path, text, {
    headers: { 'content-type': 'application/x-ndjson' },
  })
  assert.equal(status, 200, JSON.stringify(body))
  for (const line of body.trim().split('\n')) assert.equal(JSON.parse(line).status, 201, line)
}

/** Ways to report sales, all of them at the same moment. */
const ways: Record<string, (node: Service, all: readonly Named[]) => Promise<unknown>> = {
  gathered: (node, all) => sendEach(node, '/conversions', all.map(sale)),
  'by itself': (node, all) =>
    Promise.all(
      all.map(one =>
        sendEach(node, '/conversions', [sale(one)], { headers: { 'idempotency-key': JSON.stringify(one) } }),
      ),
    ),
  lines: (node, all) => sendLines(node, '/conversions/bulk', all.map(sale)),
  attribution: (node, all) => sendEach(node, '/conversions', all.map(attribution)),
  referral: (node, all) => sendEach(node, '/referrals', all.map(referral)),
  'lines of referrals': (node, all) => sendLines(node, '/referrals', all.map(referral)),
}

const report = fc.record({
  way: fc.constantFrom(...Object.keys(ways), 'gathered', 'gathered', 'by itself'),
  node: fc.nat({ max: 1 }),
  affiliate: fc.nat({ max: 2 }),
})

for (const engine of Object.keys(engines)) {
  describe(`tiers at the same moment (${engine})`, () => {
    let nodes: Service[] = []
    before(async () => {
      const one = await startService(engine)
      const database = await openDatabase(one.databaseUrl)
      const { url, close } = await listen(database)
      nodes = [one, new Service(url, one.databaseUrl, database, one.key, close)]
      // What a sale earns says how many were before it.
      for (let sales = 0; sales < MOST; sales += 1) {
        const conditions = [{ field: 'sales_ever', at_least: sales }]
        const rule = { name: `${sales}`, priority: MOST - sales, rate_type: 'flat', rate: sales, conditions }
        assert.equal((await one.post('/rules', rule)).status, 201)
      }
    })
    after(async () => {
      for (const node of nodes.toReversed()) await node.close()
    })

    test('201 - each earns by the rule that one after the other would', async () => {
      const one = nodes[0]!
      let runs = 0
      const holds = fc.asyncProperty(fc.array(report, { minLength: 20, maxLength: MOST }), async reports => {
        const run = ++runs
        const affiliates: number[] = []
        for (const number of [0, 1, 2])
          affiliates.push((await one.newAffiliate(`${run}-${number}`, { status: 'active' })).id)
        const all = reports.map(({ way, node, affiliate }, number) => ({
          way,
          node,
          named: { context: `run ${run}`, reference: `${number}`, affiliate_id: affiliates[affiliate]! },
        }))
        const attributed = all.filter(({ way }) => way === 'attribution')
        await sendEach(
          one,
          '/conversions',
          attributed.map(({ named }) => unclaimed(named)),
        )
        const requests = Map.groupBy(all, ({ way, node }) => `${node} ${way}`)
        await Promise.all(
          [...requests.values()].map(some => {
            const { way, node } = some[0]!
            return ways[way]!(
              nodes[node]!,
              some.map(({ named }) => named),
            )
          }),
        )
        for (const id of affiliates) {
          const { body } = await one.get(`/referrals?affiliate_id=${id}&number=0`)
          const earned: number[] = body.map(({ amount }: { amount: string }) => Number(amount))
          assert.deepEqual(
            earned.toSorted((a, b) => a - b),
            [...earned.keys()],
          )
        }
      })
      await fc.assert(holds, { numRuns: 8 })
      const { problems } = await checkDatabase(one.database, features)
      assert.deepEqual(problems, [])
    })
  })
}
