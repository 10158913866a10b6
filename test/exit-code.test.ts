/** That a run of these tests cannot succeed when one of them does not. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from './folder.ts'

const postgres = JSON.stringify(fileURLToPath(new URL('postgres.ts', import.meta.url)))

for (const [name, timeoutMs, told, body] of [
  ['fails', 60_000, /^. fail 1$/m, 'throw new Error()'],
  ['never ends', 5000, /^. cancelled [12]$/m, 'return new Promise(() => {})'],
] as const) {
  test(`1 - a test that ${name}`, async t => {
    const folder = await temporaryFolder()
    t.after(folder.remove)
    const file = join(folder.path, 'one.test.mjs')
    const lines = [`import ${postgres}`, `import { test } from 'node:test'`, `test('one', () => { ${body} })`]
    await writeFile(file, lines.join('\n'))
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const args = ['--test', '--test-reporter=spec', `--test-timeout=${timeoutMs}`, file]
    const { status, stdout } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
    assert.equal(status, 1, stdout)
    assert.match(stdout, told)
  })
}
