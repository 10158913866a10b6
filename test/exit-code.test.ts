/** That a run of these tests cannot succeed when one of them does not. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from './folder.ts'

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const postgres = JSON.stringify(pathOf('postgres.ts'))

for (const [name, timeoutMs, told, body] of [
  ['fails', 60_000, /^. fail 1$/m, 'throw new Error()'],
  // By then the runner does not know which test it belongs to, see promises.ts.
  [
    'leaves a rejected promise',
    60_000,
    /^. fail 1$/m,
    'return later().then(() => (Promise.reject(1), later()))',
  ],
  ['never ends', 5000, /^. cancelled [12]$/m, 'return new Promise(() => {})'],
] as const) {
  test(`1 - a test that ${name}`, async t => {
    const folder = await temporaryFolder()
    t.after(folder.remove)
    const file = join(folder.path, 'one.test.mjs')
    const lines = [
      `import ${postgres}`,
      `import { test } from 'node:test'`,
      `import { setTimeout as later } from 'node:timers/promises'`,
      `test('one', () => { ${body} })`,
    ]
    await writeFile(file, lines.join('\n'))
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const loaded = `--import=${pathOf('promises.ts')}`
    const args = [loaded, '--test', '--test-reporter=spec', `--test-timeout=${timeoutMs}`, file]
    const { status, stdout } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
    assert.equal(status, 1, stdout)
    assert.match(stdout, told)
  })
}
