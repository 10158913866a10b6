import assert from 'node:assert/strict'
import { cp, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  assertFailure,
  describeService,
  type Reply,
  type Service,
  serveProcess,
  temporaryFolder,
} from '../../test/harness.ts'

const assets = new URL('../../web/dist/_built/', import.meta.url)

async function get(service: Service, path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${service.url}${path}`, { redirect: 'manual', headers })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

describeService('administration area: the web application', service => {
  test('302 - the root leads to it', async () => {
    const { status, headers } = await get(service(), '/')
    assert.deepEqual([status, headers.get('location')], [302, '/admin/'])
  })

  test('200 - every path of the application is its page, with a policy of its own', async () => {
    const nonces = new Set<string>()
    for (const path of [
      '/admin',
      '/admin/',
      '/admin/affiliates/5',
      '/admin/index.html',
      '/admin/_built',
      '/admin/a.b?c=d',
    ]) {
      const { status, headers, text } = await get(service(), path)
      assert.equal(status, 200, path)
      assert.equal(headers.get('content-type'), 'text/html; charset=utf-8')
      assert.equal(headers.get('cache-control'), 'no-cache')
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
      assert.equal(headers.get('x-frame-options'), 'DENY')
      assert.equal(headers.get('referrer-policy'), 'no-referrer')
      assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin')
      const policy = headers.get('content-security-policy')!
      assert.doesNotMatch(policy, /unsafe/)
      assert.match(policy, /script-src 'self';/)
      assert.match(policy, /frame-ancestors 'none'/)
      const nonce = /style-src 'self' 'nonce-([^']{24})'/.exec(policy)![1]!
      nonces.add(nonce)
      assert.ok(text.includes(nonce))
      assert.ok(!text.includes('__CSP_NONCE__'))
      assert.doesNotMatch(text, /<script(?![^>]*src=)/)
    }
    assert.equal(nonces.size, 6)
  })

  test('200 - files are compressed as the browser takes it, and kept for ever', async () => {
    const names = await readdir(assets)
    const name = names.find(file => file.endsWith('.js') && names.includes(`${file}.br`))!
    for (const [accepted, encoding] of [
      ['gzip, deflate, br, zstd', 'br'],
      ['gzip', 'gzip'],
      ['identity', null],
    ] as const) {
      const { status, headers } = await get(service(), `/admin/_built/${name}`, {
        'accept-encoding': accepted,
      })
      assert.equal(status, 200)
      assert.equal(headers.get('content-encoding'), encoding)
      assert.equal(headers.get('cache-control'), 'public, max-age=31536000, immutable')
      assert.equal(headers.get('vary'), 'accept-encoding')
      assert.match(headers.get('content-type')!, /javascript/)
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
    }
  })

  test('200 - the icon, which has no name of its own for each build', async () => {
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await fetch(`${service().url}/admin/favicon.svg`, { method })
      assert.deepEqual([status, headers.get('content-type')], [200, 'image/svg+xml'])
      assert.equal(headers.get('cache-control'), 'no-cache')
      assert.notEqual(headers.get('content-length'), '0')
    }
  })

  test('404 - what is no file, and what is outside', async () => {
    const compressed = (await readdir(assets)).find(file => file.endsWith('.br'))!
    for (const name of ['index-00000000.js', '%2e%2e/%2e%2e/package.json', compressed]) {
      const path = `/admin/_built/${name}`
      const { status, text, headers } = await get(service(), path)
      assertFailure({ status, body: JSON.parse(text), headers } as Reply, 404, 'rest_no_route')
    }
    const outside = await get(service(), '/admin/..%2f..%2fpackage.json')
    assert.doesNotMatch(outside.text, /"name": "affiliated"/)
    const posted = await fetch(`${service().url}/admin/affiliates`, { method: 'POST' })
    assert.equal(posted.status, 404)
  })
})

test('200 - the page of the build that the service was started with, when there is another one since', async t => {
  const folder = await temporaryFolder()
  const root = fileURLToPath(new URL('../../', import.meta.url))
  const path = (name: string) => join(folder.path, name)
  for (const name of ['bin', 'src', 'web/dist', 'package.json']) {
    await cp(join(root, name), path(name), { recursive: true })
  }
  await symlink(join(root, 'node_modules'), path('node_modules'))
  const launcher = path('bin/affiliated.js')
  const service = await serveProcess(['--database', `sqlite:${path('x.db')}`], { program: launcher })
  t.after(async () => {
    await service.stop()
    await folder.remove()
  })
  const { url } = service.announced
  await writeFile(path('web/dist/index.html'), 'newer')
  const page = await (await fetch(`${url}/admin/`)).text()
  const [script] = /\/admin\/_built\/[^"]+\.js/.exec(page)!
  assert.equal((await fetch(`${url}${script}`)).status, 200)
})
