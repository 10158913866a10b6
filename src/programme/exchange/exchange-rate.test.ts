/** Exchange rates with every digit that was sent. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { assertFailure, describeService, runCommand, temporaryFolder } from '../../../test/harness.ts'

/** More digits than a double has, and what is stored of them. */
const exact: readonly [string, string][] = [
  ['123456789012.123456789012', '123456789012.123456789012'],
  ['99999999999.999999999999', '99999999999.999999999999'],
  ['999999999999.999999999999', '999999999999.999999999999'],
  ['0.000000000001', '0.000000000001'],
  ['0007.50', '7.5'],
  ['+.5', '0.5'],
  ['1.5e-3', '0.0015'],
  ['12e2', '1200'],
]

describeService('digits of exchange rates', service => {
  let days = 0
  const dated = (rate: unknown) => ({
    from_currency: 'THB',
    rate,
    date: new Date(Date.UTC(2024, 0, ++days)).toISOString().slice(0, 10),
  })
  const create = (rate: unknown) => service().post('/exchange-rates', dated(rate))

  test('201 - text keeps its digits, in JSON and in a form, and by an edit', async () => {
    for (const [sent, stored] of exact) {
      const { status, body } = await create(sent)
      assert.deepEqual([status, body.rate], [201, stored])
      const form = new URLSearchParams(dated(sent) as Record<string, string>)
      assert.equal((await service().post('/exchange-rates', form)).body.rate, stored)
      const path = `/exchange-rates/${body.id}`
      await service().patch(path, { rate: 2 })
      assert.equal((await service().patch(path, { rate: sent })).body.rate, stored)
      assert.equal((await service().get(path)).body.rate, stored)
    }
  })

  test('201 - a number of JSON is what JavaScript reads of it', async () => {
    const numbers: readonly [number, string][] = [
      [1.0842, '1.0842'],
      [1e-7, '0.0000001'],
      [1.25e-9, '0.00000000125'],
      [100, '100'],
      [999_999_999_999, '999999999999'],
    ]
    for (const [sent, stored] of numbers) {
      const { status, body } = await create(sent)
      assert.deepEqual([status, body.rate], [201, stored])
    }
  })

  test('400 - what is no number above 0, or has more digits', async () => {
    const wrong = [
      '1234567890123',
      '1e12',
      '1.0000000000001',
      '1e-13',
      '0',
      '0.0',
      '-1',
      '1,5',
      'e5',
      '.',
      'one',
    ]
    for (const sent of [...wrong, 1e12, 1e21, 1.5e-12, 0.1 + 0.2, 0, -1]) {
      const reply = await create(sent)
      assertFailure(reply, 400, 'rest_invalid_param')
      assert.deepEqual(Object.keys(reply.body.data.params), ['rate'], String(sent))
    }
  })

  test('affiliated exchange-rates import - keeps the digits, and finds them again', async () => {
    const folder = await temporaryFolder()
    const file = join(folder.path, 'rates.csv')
    const lines = exact.map(([sent]) => Object.values({ ...dated(sent), from_currency: 'ISK' }).join(','))
    await writeFile(file, ['from_currency,rate,date', ...lines].join('\n'))
    const run = async () => {
      const args = ['exchange-rates', 'import', file, '--json', '--database', service().databaseUrl]
      const { imported, existing, wrong } = JSON.parse((await runCommand(args)).stdout)
      return { imported, existing, wrong }
    }
    assert.deepEqual(await run(), { imported: exact.length, existing: 0, wrong: 0 })
    assert.deepEqual(await run(), { imported: 0, existing: exact.length, wrong: 0 })
    const { body } = await service().get('/exchange-rates?from_currency=isk&orderby=date&order=asc')
    assert.deepEqual(
      body.map(({ rate }: { rate: string }) => rate),
      exact.map(([, stored]) => stored),
    )
    await folder.remove()
  })

  test('affiliated exchange-rates import - guesses nothing of what a line or its columns mean', async () => {
    const folder = await temporaryFolder()
    const file = join(folder.path, 'rates.csv')
    const run = async (content: string, ...options: string[]) => {
      await writeFile(file, content)
      const args = ['exchange-rates', 'import', file, ...options, '--database', service().databaseUrl]
      return runCommand(args)
    }
    const before = (await service().get('/exchange-rates?number=0')).body
    const head = 'from_currency,to_currency,rate'
    for (const [content, problem] of [
      [`${head}\nXPF,USD,1,1234`, /line 2: has 4 cells, and the first line 3\./],
      [`${head},date\nXPF,USD,1.1`, /line 2: has 3 cells, and the first line 4\./],
      [`${head},dtae\nXPF,USD,1.1,2026-01-01`, /line 1 has columns that are not known: dtae\./],
      ['from_currency;rate\nXPF;1.1', /not known: from_currency;rate\. Those that exchange rates have are /],
      ['from_currency,rate,rate\nXPF,1.1,1.2', /line 1 names a column twice\./],
      ['from_currency,date\nXPF,2026-01-01', /line 1 must name the columns from_currency, rate\./],
      ['', /line 1 must name the columns: the file is empty\./],
    ] as const) {
      const { code, stdout, stderr } = await run(content)
      assert.equal(code, 1, content)
      assert.match(stdout + stderr, problem)
    }
    assert.deepEqual((await service().get('/exchange-rates?number=0')).body, before)
    const { stdout } = await run(`${head},note\nXPF,USD,0.009,x`, '--ignore', 'note')
    assert.match(stdout, /^Imported 1 of 1 lines/)
    const dated = `${head},date\nXPF,USD,0.009,2026-01-01`
    await run(dated)
    assert.equal((await run(dated)).stdout, 'Imported 0 of 1 lines; 1 was there already.\n')
    await folder.remove()
  })
})
