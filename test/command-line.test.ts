import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { chmodSync, closeSync, existsSync, openSync, statSync } from 'node:fs'
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { TObject } from 'typebox'
import { permissions } from '../src/app.ts'
import { freePort } from '../src/process/cluster.ts'
import { listenProblem } from '../src/process/listen.ts'
import { settingsChanges } from '../src/settings/schema.ts'
import { affiliated, runCommand, type ServeProcess, serveProcess, temporaryFolder } from './harness.ts'
import { until } from './load.ts'

const launcher = fileURLToPath(new URL('../bin/affiliated.js', import.meta.url))

/** No stack, and one line. */
function assertOneLine(stderr: string): void {
  assert.doesNotMatch(stderr, /^\s+at /m)
  assert.match(stderr, /^error: .+$/m)
}

describe('the command line', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>
  let database: string
  before(async () => {
    folder = await temporaryFolder()
    database = `sqlite:${join(folder.path, 'new', 'cli.db')}`
  })
  after(() => folder.remove())

  /** The one JSON object that a command printed. */
  async function json(...args: string[]): Promise<any> {
    const { code, stdout, stderr } = await runCommand([...args, '--json', '--database', database])
    assert.equal(code, 0, stderr)
    assert.equal(stdout.trim().split('\n').length, 1)
    return JSON.parse(stdout)
  }

  test('every command has --help', async () => {
    const commands = [
      '',
      'serve',
      'migrate',
      'users',
      'users create',
      'users list',
      'keys',
      'keys create',
      'keys list',
      'keys revoke',
      'settings',
      'settings get',
      'settings set',
      'users export',
      'users erase',
      'audit',
      'audit verify',
      'audit export',
      'backup',
      'restore',
      'check',
      'tracking rotate-keys',
      'customers export',
      'customers erase',
      'referrals import',
      'ledger',
      'statement',
    ]
    for (const command of commands) {
      const { code, stdout } = await runCommand([...command.split(' ').filter(Boolean), '--help'])
      assert.equal(code, 0, command)
      assert.match(stdout, /^Usage: affiliated/)
    }
    const settings = (await runCommand(['settings', '--help'])).stdout.replace(/\s+/g, ' ')
    assert.match(settings, /rate_types and allowed_hosts take a list separated by commas/)
    const { stdout } = await runCommand(['serve', '--help'])
    for (const [flag, variable, value] of [
      ['--database', 'DATABASE_URL', 'sqlite:./data/affiliated.db'],
      ['--host', 'HOST', '127.0.0.1'],
      ['--port', 'PORT', '8080'],
      ['--workers', 'WORKERS', '1'],
      ['--log-level', 'LOG_LEVEL', 'info'],
      ['--rate-limit', 'RATE_LIMIT', '6000'],
    ]) {
      assert.match(
        stdout.replace(/\s+/g, ' '),
        new RegExp(`${flag}.*default: "?${value}"?, env: ${variable}`),
      )
    }
  })

  test('migrate makes the database', async () => {
    assert.deepEqual(await json('migrate'), { migrated: true })
    assert.deepEqual(await json('migrate'), { migrated: true })
  })

  test('nobody but their owner reads the files that it makes', {
    skip: process.platform === 'win32',
  }, async () => {
    const at = (name: string) => join(folder.path, name)
    for (const [name, ...args] of [
      ['own/cli.db', 'migrate'],
      ['own/cli.db', 'backup', at('backup.db')],
      ['restored.db', 'restore', at('backup.db')],
    ] as const) {
      if (args[0] === 'restore') chmodSync(at('backup.db'), 0o644)
      const { code, stderr } = await affiliated([...args, '--database', `sqlite:${at(name)}`])
      assert.equal(code, 0, stderr)
    }
    for (const name of ['own', 'own/cli.db', 'restored.db']) {
      assert.equal(statSync(at(name)).mode & 0o077, 0, name)
    }
  })

  test('settings set --help says what each setting does', async () => {
    const { stdout } = await runCommand(['settings', 'set', '--help'])
    const help = stdout.replace(/\s+/g, ' ')
    const { properties }: TObject = settingsChanges
    for (const [name, schema] of Object.entries(properties)) {
      const { description }: { description?: string } = schema
      assert.ok(description && help.includes(`${name} ${description}`), name)
    }
  })

  test('users: create and list', async () => {
    const created = await json(
      'users',
      'create',
      '--login',
      'boss',
      '--email',
      'Boss@example.com',
      '--admin',
      '--password',
      'long enough',
    )
    const { id, login, email, role } = created
    assert.deepEqual(
      { id, login, email, role },
      { id: 1, login: 'boss', email: 'Boss@example.com', role: 'administrator' },
    )
    assert.equal(JSON.stringify(created).includes('password'), false)
    const { users } = await json('users', 'list')
    assert.deepEqual(users, [created])
    const stdin = await runCommand(
      [
        'users',
        'create',
        '--login',
        'two',
        '--email',
        'two@example.com',
        '--password-stdin',
        '--json',
        '--database',
        database,
      ],
      'from a pipe\n',
    )
    assert.equal(JSON.parse(stdin.stdout).login, 'two')
  })

  test('1 - a password on standard input that never ends, or has two lines', async () => {
    let parts = 0
    async function* endless() {
      for (; parts < 1000; parts += 1) yield 'x'.repeat(4096)
    }
    const args = ['users', 'password', 'two', '--password-stdin', '--database', database]
    const { code, stderr } = await runCommand(args, endless())
    assert.equal(code, 1)
    assert.match(stderr, /^error: .*password: .*at most 1000 characters/)
    const twice = await runCommand(args, 'typed as for passwd\ntyped as for passwd\n')
    assert.equal(twice.code, 1)
    assert.match(twice.stderr, /^error: .*password: must be one line of text/)
    assert.ok(parts < 10, `${parts} parts were read`)
  })

  test('1 - an account that is there, a password that is short, an address that is none', async () => {
    for (const [args, message] of [
      [['--login', 'BOSS', '--email', 'b@example.com'], /login name/],
      [['--login', 'b', '--email', 'BOSS@EXAMPLE.com'], /e-mail/],
      [['--login', 'b', '--email', 'b@example.com', '--password', 'short'], /8 to 1000/],
      [['--login', 'b', '--email', 'nobody'], /valid e-mail/],
      [['--login', 'b;', '--email', 'b@example.com'], /letters/],
    ] as const) {
      const { code, stderr } = await runCommand(['users', 'create', ...args, '--database', database])
      assert.equal(code, 1)
      assertOneLine(stderr)
      assert.match(stderr, message)
    }
  })

  test('keys: create, list, revoke', async () => {
    const key = await json(
      'keys',
      'create',
      '--name',
      'shop',
      '--user',
      'BOSS',
      '--permissions',
      'payouts.create, affiliates.read',
      '--expires',
      '2099-01-31',
    )
    assert.match(key.public_key, /^affiliated_pk_[0-9a-f]{24}$/)
    assert.match(key.token, /^affiliated_sk_[\w-]{43}$/)
    assert.deepEqual(key.permissions, ['affiliates.read', 'payouts.create'])
    assert.equal(key.expires, '2099-01-31 23:59:59')
    const reader = await json('keys', 'create', '--name', 'reader', '--user', 'boss', '--read-only')
    assert.deepEqual(
      reader.permissions,
      permissions.filter(permission => permission.endsWith('.read')),
    )
    const { keys } = await json('keys', 'list')
    assert.equal(keys.length, 2)
    assert.equal(JSON.stringify(keys).includes('affiliated_sk_'), false)
    assert.equal((await json('keys', 'revoke', key.public_key)).status, 'revoked')
    assert.equal((await json('keys', 'list')).keys[0].status, 'revoked')
  })

  test('users: role says how many keys end with the role', async () => {
    const role = (...args: string[]) => json('users', 'role', 'losing', ...args)
    await json('users', 'create', '--login', 'losing', '--email', 'losing@example.com', '--role', 'manager')
    for (const name of ['one', 'two']) await json('keys', 'create', '--name', name, '--user', 'losing')
    assert.equal((await role('reader')).revoked_keys, 0)
    assert.equal((await role('none')).revoked_keys, 2)
    await role('reader')
    await json('keys', 'create', '--name', 'three', '--user', 'losing')
    const { stdout } = await runCommand(['users', 'role', 'losing', 'none', '--database', database])
    assert.equal(stdout, 'losing has no role any more. Its API key was revoked.\n')
  })

  test('2 - a key of an account without a role, when nobody says what it may do', async () => {
    await json('users', 'create', '--login', 'program', '--email', 'program@example.com')
    const args = ['keys', 'create', '--name', 'shop', '--user', 'program']
    const { code, stdout, stderr } = await runCommand([...args, '--database', database])
    assert.deepEqual([code, stdout], [2, ''])
    assert.match(stderr, /^error: program has no role .*--permissions/)
    assert.deepEqual((await json(...args, '--permissions', 'payouts.read')).permissions, ['payouts.read'])
    assert.ok((await json(...args, '--read-only')).permissions.includes('affiliates.read'))
  })

  test('1 - keys for nobody, of nothing, without sense', async () => {
    for (const args of [
      ['create', '--name', 'x', '--user', 'nobody'],
      ['create', '--name', 'x', '--user', 'boss', '--permissions', 'affiliates.fly'],
      ['create', '--name', '', '--user', 'boss'],
      ['create', '--name', 'x', '--user', 'boss', '--expires', 'tomorrow'],
      ['create', '--name', 'x', '--user', 'boss', '--expires', '2020-01-01'],
      ['revoke', 'affiliated_pk_unknown'],
    ]) {
      const { code, stderr } = await runCommand(['keys', ...args, '--database', database])
      assert.equal(code, 1, args.join(' '))
      assertOneLine(stderr)
    }
  })

  test('settings: get and set', async () => {
    const { default_rate, default_rate_type, rate_types, currency } = await json('settings', 'get')
    assert.deepEqual(
      { default_rate, default_rate_type, rate_types, currency },
      {
        default_rate: '20',
        default_rate_type: 'percentage',
        rate_types: ['percentage', 'flat'],
        currency: 'USD',
      },
    )
    assert.equal((await json('settings', 'set', 'default_rate', '12.5')).default_rate, '12.5')
    assert.deepEqual((await json('settings', 'set', 'rate_types', 'percentage,flat,tiered')).rate_types, [
      'percentage',
      'flat',
      'tiered',
    ])
    assert.equal((await json('settings', 'set', 'default_rate_type', 'tiered')).default_rate_type, 'tiered')
    assert.deepEqual(await json('settings', 'get', 'currency'), { currency: 'USD' })
    assert.deepEqual((await json('settings', 'set', 'allowed_hosts', 'a.test,B.test')).allowed_hosts, [
      'a.test',
      'b.test',
    ])
    for (const [name, value] of [
      ['default_rate', '-1'],
      ['default_rate', ''],
      ['rate_types', 'percentage,flat'],
      ['rate_types', 'tiered,tiered'],
      ['default_rate_type', 'none'],
      ['currency', 'XYZ'],
    ]) {
      const { code, stderr } = await runCommand(['settings', 'set', name!, value!, '--database', database])
      assert.equal(code, 1, `${name}=${value}`)
      assertOneLine(stderr)
    }
  })

  test('2 - wrong usage', async () => {
    for (const args of [
      ['serve', '--colour'],
      ['serve', '--smtp-url', 'smtp://localhost', '--mail-from', 'a@example.com'],
      ['fly'],
      ['serve', '--port', 'eighty'],
      ['serve', '--port', '70000'],
      ['serve', '--log-level', 'loud'],
      ['serve', '--cors-origins', 'shop.example'],
      ['users', 'create'],
      ['keys', 'revoke'],
      ['settings', 'set', 'colour', 'red'],
      ['keys', 'create', '--name', 'x', '--user', 'boss', '--read-only', '--permissions', 'payouts.read'],
      ['users', 'create', '--login', 'x', '--email', 'x@example.com', '--password', 'y', '--password-stdin'],
      ['users', 'password', 'boss', '--password', 'y', '--password-stdin'],
      ['help', 'nope'],
      ['users', 'help', 'nope'],
      ['backup', '-'],
      ['demo', '--affiliates', '0'],
    ]) {
      const { code, stdout, stderr } = await runCommand([...args, '--database', database])
      assert.equal(code, 2, args.join(' '))
      assert.equal(stdout, '')
      assertOneLine(stderr)
    }
  })

  test('help with a command shows its help', async () => {
    for (const [args, usage] of [
      [['help'], /^Usage: affiliated /],
      [['help', 'users'], /^Usage: affiliated users /],
      [['users', 'help', 'role'], /^Usage: affiliated users role /],
      [['help', 'help'], /^Usage: affiliated /],
      [['help', 'ledger'], /file to write or replace; - is standard output/],
    ] as const) {
      const { stdout, stderr } = await runCommand([...args])
      assert.match(stdout + stderr, usage)
    }
  })

  for (const args of [['users', 'list'], ['audit', 'export'], ['migrate'], ['--help']]) {
    const printTo = async (stdout: 'pipe' | number) => {
      const child = spawn(process.execPath, [launcher, ...args, '--database', database], {
        stdio: ['ignore', stdout, 'pipe'],
      })
      child.stdout?.destroy()
      const [stderr, [code]] = await Promise.all([text(child.stderr!), once(child, 'close')])
      return { code, stderr }
    }

    test(`1 - the disk that ${args.join(' ')} prints to is full`, {
      skip: !existsSync('/dev/full'),
    }, async () => {
      const full = openSync('/dev/full', 'w')
      const { code, stderr } = await printTo(full)
      closeSync(full)
      assert.equal(code, 1)
      assert.match(stderr, /^error: ENOSPC.*\n$/)
    })

    test(`0 - who reads what ${args.join(' ')} prints has seen enough`, async () => {
      assert.deepEqual(await printTo('pipe'), { code: 0, stderr: '' })
    })
  }

  test('1 - a database that is none, that is a folder, or that is newer; 2 - a URL of none', async () => {
    const garbage = join(folder.path, 'garbage.db')
    await writeFile(garbage, 'this is no database, and long enough to be taken for one'.repeat(100))
    const newer = join(folder.path, 'newer.db')
    await runCommand(['migrate', '--database', `sqlite:${newer}`])
    const file = new DatabaseSync(newer)
    file.exec('UPDATE schema_version SET version = 999')
    file.close()
    for (const [url, message, expected] of [
      [`sqlite:${garbage}`, /cannot be opened/, 1],
      [`sqlite:${folder.path}`, /cannot be opened/, 1],
      [`sqlite:${newer}`, /newer version/, 1],
      ['mysql://localhost/x', /database URL/, 2],
      ['sqlite:', /needs a file/, 2],
    ] as const) {
      const { code, stderr } = await affiliated(['serve', '--port', '0', '--database', url])
      assert.equal(code, expected, url)
      assertOneLine(stderr)
      assert.match(stderr, message)
    }
  })
})

describe('serve', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>
  let started: ServeProcess
  before(async () => {
    folder = await temporaryFolder()
    started = await serveProcess(['--database', `sqlite:${join(folder.path, 'serve.db')}`, '--demo'], {
      isFirst: true,
    })
  })
  after(async () => {
    await started.stop('SIGKILL')
    await folder.remove()
  })

  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${started.announced.url}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${started.announced.token}`, ...init.headers },
    })

  test('a fresh database gets an administrator, a full key, and with --demo its data', async () => {
    assert.equal(started.announced.login, 'admin')
    assert.ok(started.announced.password.length >= 20)
    const affiliates = await ask('/v1/affiliates?number=-1')
    assert.equal(((await affiliates.json()) as any[]).length, 200)
    assert.equal((await ask('/v1/payouts?count=1')).headers.get('x-total-count'), '600')
  })

  test('200 - alive and ready, without a key', async () => {
    for (const path of ['/healthz', '/readyz']) {
      const reply = await fetch(`${started.announced.url}${path}`)
      assert.equal(reply.status, 200)
      assert.deepEqual(await reply.json(), { status: 'ok' })
    }
  })

  test('one line per request, without anything secret', async () => {
    await ask('/v1/affiliates?create_user=1&payment_email=secret@example.com&notes=whispered', {
      method: 'POST',
    })
    await delay(500)
    const lines = started
      .stderr()
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    const line = lines.find(({ method, path }) => method === 'POST' && path === '/v1/affiliates')
    assert.equal(line.status, 201)
    assert.equal(line.key, started.announced.public_key)
    assert.ok(line.durationMs > 0)
    assert.ok(line.id)
    for (const secret of [started.announced.token, started.announced.password, 'whispered', 'secret@']) {
      assert.equal(started.stderr().includes(secret), false)
    }
  })

  for (const workers of ['1', '2']) {
    /** Without workers or with them; whatever was opened before must not keep the process. */
    const refused = (...args: string[]) =>
      affiliated([
        ...['serve', '--log-level', 'fatal', '--workers', workers],
        ...['--database', `sqlite:${join(folder.path, `refused${workers}.db`)}`],
        ...args,
      ])

    test(`1 - a port is taken, ${workers} processes`, async () => {
      const { port } = new URL(started.announced.url)
      const metricsPort = String(await freePort('127.0.0.1'))
      for (const [flag, args] of [
        ['--port', ['--port', port]],
        ['--port', ['--port', port, '--metrics-port', metricsPort]],
        ['--metrics-port', ['--port', '0', '--metrics-port', port]],
      ] as const) {
        const { code, stdout, stderr } = await refused(...args)
        assert.equal(code, 1)
        assert.equal(stdout, '')
        assertOneLine(stderr)
        assert.match(stderr, new RegExp(`port ${port} of 127.0.0.1; choose another port with ${flag}\\.`))
      }
    })

    test(`1 - a host that is none, ${workers} processes`, async () => {
      for (const [flag, args] of [
        ['--host', ['--host', 'nosuch.invalid', '--port', await freePort('127.0.0.1')]],
        ['--host', ['--host', 'nosuch.invalid', '--port', '0']],
        ['--host', ['--host', '192.0.2.1', '--port', '0']],
        ['--metrics-host', ['--metrics-host', 'nosuch.invalid', '--port', '0', '--metrics-port', '1']],
      ] as const) {
        const { code, stderr } = await refused(...args.map(String))
        assert.equal(code, 1)
        assertOneLine(stderr)
        assert.match(stderr, new RegExp(`(nosuch\\.invalid|192\\.0\\.2\\.1) .*with ${flag}\\.`))
      }
    })
  }

  test('a port that only some may listen on is named, with what to do', () => {
    const problem = listenProblem('EACCES', '127.0.0.1', 80, 'metrics-')!
    assert.match(problem, /Port 80 of 127\.0\.0\.1 .* --metrics-port, .*CAP_NET_BIND_SERVICE/)
  })

  test('0 - SIGHUP without workers, as when a terminal is closed, ends it as SIGTERM does', async () => {
    const url = `sqlite:${join(folder.path, 'hung-up.db')}`
    const service = await serveProcess(['--database', url])
    assert.equal(await service.stop('SIGHUP'), 0)
    assert.match(service.stderr(), /"signal":"SIGHUP"/)
  })

  test('0 - a mail that waits for a name server that does not answer does not keep the process', async t => {
    const url = `sqlite:${join(folder.path, 'unnamed.db')}`
    const silent = createSocket('udp4').bind(0, '127.0.0.1')
    t.after(() => silent.close())
    await once(silent, 'listening')
    const asking = `import dns from 'node:dns'
      dns.Resolver = class extends dns.Resolver {
        constructor(options) {
          super(options)
          this.setServers(['127.0.0.1:${silent.address().port}'])
        }
      }`
    const service = await serveProcess(
      [
        ...['--database', url, '--smtp-url', 'smtp://mail.example.com', '--mail-from', 'a@example.com'],
        ...['--public-url', 'https://shop.example'],
      ],
      { environment: { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(asking)}` } },
    )
    t.after(() => service.stop('SIGKILL'))
    const asked = once(silent, 'message')
    const reply = await fetch(`${service.announced.url}/admin/api/forgotten-password?login=admin`, {
      method: 'POST',
      headers: { 'x-admin-request': '1' },
    })
    assert.equal(reply.status, 200)
    await asked
    const began = performance.now()
    assert.equal(await service.stop(), 0)
    assert.ok(performance.now() - began < 10_000)
    assert.match(service.stderr(), /could not be sent/)
  })

  test('the first start says where the administration area is', async () => {
    const url = `sqlite:${join(folder.path, 'people.db')}`
    const child = spawn(process.execPath, [launcher, 'serve', '--port', '0', '--database', url])
    let stdout = ''
    child.stdout.on('data', chunk => {
      stdout += chunk
    })
    await until(() => stdout.includes('curl'))
    child.kill()
    await once(child, 'close')
    const [address] = /http:\S+/.exec(stdout)!
    assert.ok(stdout.includes(`administration area at ${new URL(address).origin}/admin\n`))
  })

  for (const place of ['a full disk', 'nobody']) {
    test(`the first start says how to get in when it prints to ${place}`, {
      skip: place === 'a full disk' && !existsSync('/dev/full'),
    }, async () => {
      const url = `sqlite:${join(folder.path, `${place}.db`)}`
      const full = place === 'nobody' ? undefined : openSync('/dev/full', 'w')
      const child = spawn(process.execPath, [launcher, 'serve', '--port', '0', '--database', url], {
        stdio: ['ignore', full ?? 'pipe', 'pipe'],
      })
      child.stdout?.destroy()
      if (full !== undefined) closeSync(full)
      let stderr = ''
      child.stderr!.on('data', chunk => {
        stderr += chunk
      })
      await until(() => stderr.includes('affiliated users password admin'))
      child.kill()
      await once(child, 'close')
      assert.equal((await runCommand(['users', 'password', 'admin', '--database', url])).code, 0)
    })
  }

  test('1 - the first key cannot be made: neither is its account, so the next start makes both', async () => {
    const { url, refuse, allow } = await refusing('api_keys')
    refuse()
    const { code, stdout } = await affiliated(['serve', '--port', '0', '--database', url])
    assert.equal(code, 1)
    assert.equal(stdout, '')
    allow()
    const next = await serveProcess(['--database', url], { isFirst: true })
    await next.stop()
    assert.equal(next.announced.login, 'admin')
    assert.ok(next.announced.token)
  })

  for (const workers of ['1', '2']) {
    test(`1 - the demo cannot be made, ${workers} processes: the first access is shown all the same`, async () => {
      const { url, refuse } = await refusing('affiliates')
      refuse()
      const args = ['--json', '--demo', '--port', '0', '--workers', workers, '--database', url]
      const { code, stdout } = await affiliated(['serve', ...args])
      assert.equal(code, 1)
      assert.ok(JSON.parse(stdout).password)
    })
  }

  test('a database that `demo` has filled gets an administrator, once', async () => {
    const url = `sqlite:${join(folder.path, 'filled.db')}`
    await runCommand(['demo', '--affiliates', '3', '--payouts', '3', '--database', url])
    const filled = await serveProcess(['--database', url], { isFirst: true })
    await filled.stop()
    assert.deepEqual([filled.announced.login, typeof filled.announced.password], ['admin', 'string'])
    const args = ['--json', '--port', '0', '--database', url]
    const again = await serveProcess(args)
    assert.equal(again.announced.password, undefined)
    await again.stop()
  })

  /** A database in which nothing can be added to a table for a while. */
  async function refusing(table: string) {
    const path = join(folder.path, `refusing.${Math.random()}.db`)
    const url = `sqlite:${path}`
    await runCommand(['migrate', '--database', url])
    const execute = (statement: string) => {
      const file = new DatabaseSync(path)
      file.exec(statement)
      file.close()
    }
    return {
      url,
      refuse: () =>
        execute(`CREATE TRIGGER refusal BEFORE INSERT ON ${table} BEGIN SELECT RAISE(ABORT, 'refused'); END`),
      allow: () => execute('DROP TRIGGER refusal'),
    }
  }

  test('--no-bootstrap makes no account', async () => {
    const url = `sqlite:${join(folder.path, 'bare.db')}`
    const bare = await serveProcess(['--no-bootstrap', '--database', url], { isFirst: true })
    assert.deepEqual(Object.keys(bare.announced), ['url'])
    assert.equal(await bare.stop(), 0)
  })

  test('0 - SIGTERM takes no new connection and finishes what is under way', async () => {
    const { port } = new URL(started.announced.url)
    // Keeps the connection for as long as the service does.
    const agent = new Agent({ keepAlive: true, timeout: 60_000 })
    const slow = request({
      port,
      agent,
      method: 'POST',
      path: '/v1/affiliates',
      headers: {
        authorization: `Bearer ${started.announced.token}`,
        'content-type': 'application/json',
        'content-length': 62,
      },
    })
    slow.write('{"create_user":true,"payment_email":')
    await delay(300)
    const exited = started.stop('SIGTERM')
    // Longer than idle connections are waited for.
    await delay(1500)
    // A terminal signals the launcher and the service, and the launcher passes its own on.
    started.child.kill('SIGTERM')
    await assert.rejects(once(connect(Number(port)), 'connect'))
    const answered = once(slow, 'response')
    slow.end('"under.way@example.com"  }')
    const [response] = await answered
    assert.equal(response.statusCode, 201)
    assert.equal(JSON.parse(await text(response)).payment_email, 'under.way@example.com')
    assert.equal(await exited, 0)
    assert.doesNotMatch(started.stderr(), /"level":[456]0/)
  })
})

test('1 - a fault of the program is reported with its stack', async t => {
  const folder = await temporaryFolder()
  t.after(folder.remove)
  const preload = join(folder.path, 'fault.mjs')
  await writeFile(preload, 'process.stdout.write = () => undefined.none')
  const url = `sqlite:${join(folder.path, 'x.db')}`
  const child = spawn(process.execPath, ['--import', preload, launcher, 'migrate', '--database', url])
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
  assert.equal(code, 1)
  assert.match(stderr, /^error: TypeError: .*none.*\n +at .*fault\.mjs/m)
})

test('the launcher finds the pinned Node, or says what to do', {
  skip: process.platform === 'win32',
}, async t => {
  // An old Node is not at hand on every machine: its version is what the launcher decides by.
  const old = `Object.defineProperty(process.versions, 'node', { value: '20.20.2' })`
  const folder = await temporaryFolder()
  t.after(folder.remove)
  const preload = join(folder.path, 'old.mjs')
  await writeFile(preload, old)
  const run = async (path: string) => {
    const child = spawn(process.execPath, ['--import', preload, path, '--version'])
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ])
    return { stdout, stderr, code }
  }
  const found = await run(launcher)
  assert.match(found.stdout, /^\d+\.\d+\.\d+/)
  assert.equal(found.code, 0)
  await mkdir(join(folder.path, 'bin'))
  await writeFile(join(folder.path, 'package.json'), '{"type":"module"}')
  await copyFile(launcher, join(folder.path, 'bin', 'affiliated.js'))
  const missing = await run(join(folder.path, 'bin', 'affiliated.js'))
  assert.equal(missing.code, 1)
  assert.match(missing.stderr, /needs Node 24 or newer/)
})
