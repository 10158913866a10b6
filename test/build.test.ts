/** What is shipped: the package as npm would publish it, in a folder where nothing else is. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync } from 'node:zlib'
import { serveProcess, temporaryFolder, unopened } from './harness.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

describe('the package', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>
  let launcher: string
  before(async () => {
    folder = await temporaryFolder()
    const pack = ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder.path]
    const filename = execFileSync('npm', pack, { cwd: root, encoding: 'utf8' }).trim()
    execFileSync('tar', ['-xzf', join(folder.path, filename), '-C', folder.path])
    launcher = join(folder.path, 'package', 'bin', 'affiliated.js')
  })
  after(() => folder.remove())

  for (const engine of Object.keys(unopened)) {
    test(`runs without any other package, on ${engine}`, async t => {
      const fresh = await unopened[engine]!()
      const service = await serveProcess(['--database', fresh.url, '--log-level', 'fatal'], {
        program: launcher,
      })
      t.after(async () => {
        await service.stop()
        await fresh.remove()
      })
      const { url, token, login, password } = service.announced
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const body = JSON.stringify({ create_user: true, payment_email: 'packed@example.com' })
      const created = await fetch(`${url}/v1/affiliates`, { method: 'POST', headers, body })
      assert.equal(created.status, 201, await created.text())
      assert.equal((await fetch(`${url}/v1/affiliates?amount=1`, { headers })).status, 200)
      // A call whose result is not used, because it is made for what it throws.
      assert.equal((await fetch(`${url}/v1/affiliates/%ff`)).status, 401)
      const page = await (await fetch(`${url}/admin/affiliates`)).text()
      const [script] = page.match(/\/admin\/_built\/[^"]+\.js/)!
      assert.equal((await fetch(`${url}${script}`)).status, 200)
      const session = await fetch(`${url}/admin/api/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-admin-request': '1' },
        body: JSON.stringify({ login, password }),
      })
      const cookie = session.headers.getSetCookie()[0]!.split(';')[0]!
      // Reports are read on threads, which are programs of their own.
      const report = await fetch(`${url}/admin/api/reports/payouts-by-method`, { headers: { cookie } })
      assert.equal(report.status, 200, await report.text())
    })
  }

  test('each file of the program is kept with one byte for each character', () => {
    const files = readdirSync(join(folder.path, 'package', 'dist')).filter(name => name.endsWith('.js'))
    assert.ok(files.length > 5)
    for (const name of files) {
      const text = readFileSync(join(folder.path, 'package', 'dist', name), 'utf8')
      assert.deepEqual(text.match(/[^\0-\xff]/g), null, name)
    }
  })

  test('the script for the pages of a shop has less than 1,200 bytes, as docs/tracking.md says', () => {
    const script = readFileSync(join(folder.path, 'package', 'dist', 'script.js'), 'utf8')
    const hosts = ['www.shop.example', 'pay.example:8443', '*.shop.example']
    const settings = [30 * 86_400, false, hosts, ['shop.example']]
    const sent = script.replace('AFFILIATED_SETTINGS', JSON.stringify(settings))
    assert.ok(brotliCompressSync(sent).length < 1200)
  })

  test('names the licences of what it holds', () => {
    const names = (path: string) =>
      [...readFileSync(join(folder.path, 'package', path), 'utf8').matchAll(/^## (\S+) - /gm)].map(
        ([, name]) => name,
      )
    assert.ok(names('dist/licenses.md').includes('fastify'))
    assert.ok(names('web/dist/licenses.md').includes('react-dom'))
  })
})

test('the launcher runs the build until a source, or what sources there are, has changed after it', async t => {
  const folder = await temporaryFolder()
  t.after(folder.remove)
  const path = (name: string) => join(folder.path, name)
  for (const name of ['bin', 'src', 'src/storage', 'dist']) mkdirSync(path(name))
  cpSync(join(root, 'bin', 'affiliated.js'), path('bin/affiliated.js'))
  symlinkSync(join(root, 'node_modules'), path('node_modules'))
  writeFileSync(path('package.json'), '{"type":"module"}')
  writeFileSync(path('dist/main.js'), `console.log('build')`)
  writeFileSync(path('src/main.ts'), `console.log('sources')`)
  writeFileSync(path('src/storage/database.ts'), '')
  const changed = (seconds: number, ...names: string[]) => {
    for (const name of names) utimesSync(path(name), seconds, seconds)
  }
  const runs = () =>
    spawnSync(process.execPath, [path('bin/affiliated.js')], { encoding: 'utf8' }).stdout.trim()

  changed(1000, 'src', 'src/storage', 'src/main.ts', 'src/storage/database.ts')
  changed(2000, 'dist/main.js')
  assert.equal(runs(), 'build')
  changed(3000, 'src/storage/database.ts')
  assert.equal(runs(), 'sources')
  changed(1000, 'src/storage/database.ts')
  changed(3000, 'src/storage')
  assert.equal(runs(), 'sources')
})
