/** Sales under ever more commission rules: one by one, against the floor, and many by one request. */
import { measureBulk } from './bulk.ts'
import { type Filled, progress } from './measure.ts'
import { compareWithFloor, type Run } from './parts.ts'
import { startServer } from './processes.ts'

const SIZES = [1, 100, 1000]

export async function compareRules(filled: Filled, run: Run) {
  const results = []
  let there = 0
  for (const rules of SIZES) {
    progress(`${filled.engine}: ${rules} rules`)
    await addRules(filled, there, rules)
    there = rules
    const [single] = await compareWithFloor(filled, { ...run, only: 'report sale' })
    const [lines] = await measureBulk(filled, { ...run, only: 'conversions' })
    results.push({ engine: filled.engine, rules, single: single!, lines: lines! })
  }
  return results
}

/** Before those of the demo in the order in which rules are tried, so that each is judged for each sale, and none applies. */
async function addRules({ database, authorization }: Filled, there: number, wanted: number): Promise<void> {
  const server = await startServer(database)
  for (let number = there + 1; number <= wanted; number += 1) {
    const response = await fetch(`${server.url}/v1/rules`, {
      method: 'POST',
      headers: { authorization, 'Content-Type': 'application/json' },
      body: JSON.stringify({
        name: `Rule ${number} of the benchmark`,
        rate: 10,
        priority: 1,
        conditions: [
          { field: 'product', is: [`product-${number}`] },
          { field: 'amount', at_least: number },
        ],
      }),
    })
    if (response.status !== 201) throw new Error(await response.text())
    await response.text()
  }
  await server.stop()
}
