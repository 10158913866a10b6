/** Backup, restoration and the check of a database, by the command line, while the service writes. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, lstatSync } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, symlink, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { hostname } from 'node:os'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import { sealAll, sealEntries } from '../src/events/seal.ts'
import { verifyChain } from '../src/events/verify.ts'
import { write } from '../src/events/write.ts'
import { within } from '../src/storage/database.ts'
import {
  affiliated,
  engines,
  openDatabase,
  operatorOf,
  runCommand,
  serveProcess,
  startService,
  temporaryFolder,
} from './harness.ts'
import { load, until } from './load.ts'

async function succeeds(...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await runCommand([...args, '--json'])
  assert.equal(code, 0, `${args.join(' ')}: ${stderr}`)
  return JSON.parse(stdout)
}

function changeDatabase(file: string, statement: string): void {
  const database = new DatabaseSync(file)
  database.exec(statement)
  database.close()
}

async function fails(message: RegExp, ...args: string[]): Promise<void> {
  const { code, stdout, stderr } = await runCommand(args)
  assert.equal(code, 1, args.join(' '))
  assert.equal(stdout, '')
  assert.match(stderr, message)
  assert.doesNotMatch(stderr, /\n\s+at /)
}

test('a backup that is made under load is whole, and once restored answers like the original', async t => {
  const folder = await temporaryFolder()
  t.after(folder.remove)
  const url = `sqlite:${join(folder.path, 'live.db')}`
  const backup = join(folder.path, 'backup.db')
  const started = await serveProcess(['--database', url, '--demo', '--log-level', 'error'])
  t.after(() => started.stop('SIGKILL'))
  const { url: base, token } = started.announced
  /** No referral of the demo has such a number. */
  const elsewhere = 1_000_000_000_000
  const writers = load(token, 8, number =>
    number % 2 === 0
      ? {
          method: 'POST',
          url: `${base}/v1/affiliates`,
          body: { create_user: true, payment_email: `w${number}@example.com` },
        }
      : {
          method: 'PATCH',
          url: `${base}/v1/payouts/${1 + (number % 3)}`,
          body: { affiliate_id: 1, referrals: [elsewhere + number, elsewhere + number + 1] },
        },
  )
  t.after(() => writers.stop())
  for (let round = 0; round < 3; round += 1) {
    const acknowledged = writers.answers.filter(({ status }) => status === 201).length
    const made = await succeeds('backup', backup, '--force', '--database', url)
    assert.ok(made.bytes > 100_000)
    const copy = join(folder.path, `copy${round}.db`)
    await copyFile(backup, copy)
    const { ok, checked, problems } = await succeeds('check', '--database', `sqlite:${copy}`)
    assert.deepEqual([ok, problems], [true, []])
    assert.equal((await succeeds('audit', 'verify', '--database', `sqlite:${copy}`)).unsealed, 0)
    assert.ok(checked.affiliates >= 200 + acknowledged, 'what was answered before the backup is in it')
    assert.equal(checked.users, checked.affiliates + 1)
  }
  assert.equal((await succeeds('check', '--database', url)).ok, true)
  await fails(/already; --force/, 'backup', backup, '--database', url)
  await fails(/in use; stop the service/, 'restore', backup, '--database', url)
  await writers.stop()
  assert.deepEqual(writers.lost, [])
  assert.ok(writers.answers.every(({ status }) => status === 201 || status === 200))

  const answersOf = async (at: string) => {
    const ask = async (path: string) =>
      (await fetch(`${at}/v1${path}`, { headers: { authorization: `Bearer ${token}` } })).text()
    return [await ask('/affiliates?number=-1&user=1&effective=1'), await ask('/payouts?number=-1')]
  }
  await succeeds('backup', backup, '--force', '--database', url)
  const original = await answersOf(base)
  await fetch(`${base}/v1/payouts/1`, { method: 'DELETE', headers: { authorization: `Bearer ${token}` } })
  assert.notDeepEqual(await answersOf(base), original)
  assert.equal(await started.stop(), 0)

  const restored = await succeeds('restore', backup, '--database', url)
  await succeeds('check', '--database', url)
  const kept = (await readdir(folder.path)).filter(name => name.includes('.before-restore-'))
  assert.deepEqual(kept, [basename(restored.previous)])
  await succeeds('check', '--database', `sqlite:${restored.previous}`)
  const again = await serveProcess(['--database', url, '--log-level', 'error'])
  t.after(() => again.stop('SIGKILL'))
  assert.deepEqual(await answersOf(again.announced.url), original)
  await again.stop()
  assert.deepEqual(
    (await readdir(folder.path)).filter(name => name.includes('partial')),
    [],
  )
})

test('0 - what a backup and a restoration have left that were killed is removed by the next one', async t => {
  const folder = await temporaryFolder()
  t.after(folder.remove)
  const live = join(folder.path, 'live.db')
  const backup = join(folder.path, 'backup.db')
  const database = ['--database', `sqlite:${live}`]
  await succeeds('migrate', ...database)
  await succeeds('backup', backup, ...database)
  const gone = spawnSync(process.execPath, ['--version']).pid
  for (const [file, command] of [
    [backup, ['backup', backup, '--force']],
    [live, ['restore', backup]],
  ] as const) {
    for (const companion of ['', '-wal', '-shm', '-journal'])
      await writeFile(`${file}.${hostname()}.${gone}.partial${companion}`, 'half')
    await succeeds(...command, ...database)
    assert.deepEqual(
      (await readdir(folder.path)).filter(name => name.includes('partial')),
      [],
    )
  }
})

test('1 - what is no backup is not restored, and the database stays as it is', async t => {
  const folder = await temporaryFolder()
  t.after(folder.remove)
  const file = join(folder.path, 'live.db')
  const url = `sqlite:${file}`
  await runCommand(['demo', '--database', url])
  const before = await readFile(file)
  const good = join(folder.path, 'good.db')
  await succeeds('backup', good, '--database', url)
  const garbage = join(folder.path, 'garbage.db')
  await writeFile(garbage, 'no database at all '.repeat(1000))
  const damaged = join(folder.path, 'damaged.db')
  const bytes = await readFile(good)
  bytes.fill(0xa5, 8192, bytes.length - 4096)
  await writeFile(damaged, bytes)
  const short = join(folder.path, 'short.db')
  await copyFile(good, short)
  await truncate(short, 20_000)
  const other = join(folder.path, 'other.db')
  await writeFile(other, '')
  const newer = join(folder.path, 'newer.db')
  await copyFile(good, newer)
  changeDatabase(newer, 'UPDATE schema_version SET version = 999')
  const incomplete = join(folder.path, 'incomplete.db')
  await copyFile(good, incomplete)
  changeDatabase(incomplete, 'UPDATE schema_version SET copying = 1')
  for (const source of [
    garbage,
    damaged,
    short,
    other,
    newer,
    incomplete,
    join(folder.path, 'none.db'),
    file,
  ]) {
    const named = [garbage, damaged, short, other].includes(source) ? source : ''
    await fails(new RegExp(`^error: .*${named}`), 'restore', source, '--database', url)
    assert.deepEqual(await readFile(file), before, source)
  }
  await fails(/ is a folder, and no backup\.$/m, 'restore', folder.path, '--database', url)
  await fails(
    /There is no database/,
    'backup',
    good,
    '--force',
    '--database',
    `sqlite:${folder.path}/none.db`,
  )
  const unmade = join(folder.path, 'unmade.db')
  await fails(/garbage\.db: file is not a database\.$/m, 'backup', unmade, '--database', `sqlite:${garbage}`)
  await fails(/garbage\.db .*another file was meant/, 'check', '--database', `sqlite:${garbage}`)
  await succeeds('check', '--database', url)
  // One that is damaged is what a backup is for.
  await writeFile(file, bytes)
  await succeeds('restore', good, '--database', url)
  assert.equal((await succeeds('check', '--database', url)).checked.affiliates, 200)
})

test('a database that is a link stays where the link leads to', {
  skip: process.platform === 'win32',
}, async t => {
  const folder = await temporaryFolder()
  t.after(folder.remove)
  const [file, link, good] = ['real.db', 'link.db', 'good.db'].map(name => join(folder.path, name))
  const url = `sqlite:${link}`
  await runCommand(['demo', '--database', `sqlite:${file}`])
  await symlink(file!, link!)
  await succeeds('backup', good!, '--database', url)
  await runCommand(['users', 'create', '--login', 'later', '--email', 'l@example.com', '--database', url])
  const { previous } = await succeeds('restore', good!, '--database', url)
  assert.ok(lstatSync(link!).isSymbolicLink())
  assert.ok(lstatSync(previous).isFile())
  const users = async (path: string) =>
    (await succeeds('users', 'list', '--database', `sqlite:${path}`)).users
  assert.equal((await users(file!)).length, (await users(previous)).length - 1)
})

test('a database whose log lies beside it is restored with what is in the log, and left as it is', async t => {
  const folder = await temporaryFolder()
  t.after(folder.remove)
  const live = join(folder.path, 'live.db')
  const copied = join(folder.path, 'copied.db')
  await runCommand(['demo', '--affiliates', '3', '--payouts', '0', '--database', `sqlite:${live}`])
  const database = await openDatabase(`sqlite:${live}`)
  await database.transaction(tx => tx.updateTable('settings').set({ value: '33' }).execute())
  for (const suffix of ['', '-wal']) await copyFile(live + suffix, copied + suffix)
  await database.close()
  const before = await Promise.all(['', '-wal'].map(suffix => readFile(copied + suffix)))
  assert.ok(before[1]!.length > 0)

  const restored = `sqlite:${join(folder.path, 'restored.db')}`
  await succeeds('restore', copied, '--database', restored)
  const opened = await openDatabase(restored)
  const settings = await opened.reader.selectFrom('settings').select('value').execute()
  await opened.close()
  assert.ok(settings.every(({ value }) => value === '33'))
  assert.deepEqual(await Promise.all(['', '-wal'].map(suffix => readFile(copied + suffix))), before)
})

test('the log of a database that is gone does not get into the one that is restored', async t => {
  const folder = await temporaryFolder()
  t.after(folder.remove)
  const gone = join(folder.path, 'gone.db')
  const good = join(folder.path, 'good.db')
  await runCommand(['demo', '--affiliates', '3', '--payouts', '0', '--database', `sqlite:${gone}`])
  await succeeds('backup', good, '--database', `sqlite:${gone}`)
  const database = await openDatabase(`sqlite:${gone}`)
  await database.transaction(tx => tx.updateTable('settings').set({ value: '33' }).execute())
  const target = join(folder.path, 'target.db')
  await copyFile(`${gone}-wal`, `${target}-wal`)
  await database.close()
  await succeeds('restore', good, '--database', `sqlite:${target}`)
  const { default_rate } = await succeeds('settings', 'get', '--database', `sqlite:${target}`)
  assert.equal(default_rate, '20')
})

test('1 - a backup replaces regular files only, and makes no folder', {
  skip: process.platform === 'win32',
}, async t => {
  const folder = await temporaryFolder()
  t.after(folder.remove)
  const at = (name: string) => join(folder.path, name)
  const database = ['--database', `sqlite:${at('live.db')}`]
  await runCommand(['migrate', ...database])
  await mkdir(at('folder'))
  const socket = createServer().listen(at('socket'))
  await once(socket, 'listening')
  t.after(() => socket.close())
  await writeFile(at('file'), 'something')
  await symlink(at('file'), at('link'))
  for (const [target, message] of [
    ['folder', /folder is a folder\.$/m],
    ['socket', /socket is no regular file\.$/m],
    ['link', /link is no regular file\.$/m],
    ['not-mounted/backup.db', /there is no folder .*not-mounted\.$/m],
    ['file/backup.db', /file is no folder\.$/m],
  ] as const) {
    await fails(message, 'backup', at(target), '--force', ...database)
    await fails(message, 'backup', at(target), ...database)
  }
  await fails(/There is a file .*file already; --force/, 'backup', at('file'), ...database)
  assert.equal(existsSync(at('not-mounted')), false)
  assert.equal(lstatSync(at('socket')).isSocket(), true)
  assert.equal(lstatSync(at('link')).isSymbolicLink(), true)
  await succeeds('backup', at('file'), '--force', ...database)
})

test('1 - nothing is written over the database, its log or its secret key, whatever path leads there', {
  skip: process.platform === 'win32',
}, async t => {
  const folder = await temporaryFolder()
  t.after(folder.remove)
  const at = (name: string) => join(folder.path, name)
  await mkdir(at('disk'))
  await symlink(at('disk/real.db'), at('live.db'))
  await symlink(at('disk'), at('mount'))
  const url = `sqlite:${at('live.db')}`
  await runCommand(['demo', '--affiliates', '3', '--payouts', '3', '--database', url])
  await writeFile(at('live.db.key'), 'secret')
  const database = await openDatabase(url)
  t.after(() => database.close())
  const named = [
    'live.db',
    'live.db.key',
    'disk/real.db',
    'mount/real.db',
    'mount/real.db-wal',
    'live.db-journal',
  ]
  const contents = () =>
    Promise.all(['live.db.key', 'disk/real.db', 'disk/real.db-wal'].map(name => readFile(at(name))))
  const before = await contents()
  for (const name of named) {
    await fails(
      /belongs to the database .*live\.db: name another file\.$/m,
      'backup',
      at(name),
      '--force',
      '--database',
      url,
    )
    await fails(
      /belongs to the database .*live\.db: name another file\.$/m,
      'ledger',
      at(name),
      '--database',
      url,
    )
  }
  assert.deepEqual(await contents(), before)
  assert.equal(existsSync(at('live.db-journal')), false)
})

test('1 - a database that is not there is not made by what reads or changes one', async t => {
  const folder = await temporaryFolder()
  t.after(folder.remove)
  const file = join(folder.path, 'mistyped', 'none.db')
  const database = ['--database', `sqlite:${file}`]
  for (const args of [
    ['check'],
    ['audit', 'verify'],
    ['audit', 'export'],
    ['users', 'list'],
    ['users', 'export', 'ada'],
    ['users', 'erase', 'ada', '--yes'],
    ['users', 'password', 'ada', '--password', 'long enough'],
    ['keys', 'list'],
    ['keys', 'revoke', 'affiliated_pk_0'],
    ['settings', 'get'],
    ['copy', '--from', `sqlite:${file}`, '--to', `sqlite:${join(folder.path, 'target.db')}`],
  ]) {
    const rest = args[0] === 'copy' ? [] : database
    await fails(/^error: There is no database at .*none\.db\.$/m, ...args, ...rest)
  }
  assert.deepEqual(await readdir(folder.path), [])
  const empty = join(folder.path, 'empty.db')
  await writeFile(empty, '')
  await fails(/There is no database at/, 'check', '--database', `sqlite:${empty}`)
  const made = ['--login', 'ada', '--email', 'ada@example.com']
  await succeeds('users', 'create', ...made, ...database)
  assert.equal((await succeeds('users', 'list', ...database)).users.length, 1)
  await succeeds('settings', 'set', 'currency', 'EUR', '--database', `sqlite:${folder.path}/new.db`)
})

test('1 - a folder that cannot be made, or is a file, is said in words', async t => {
  const folder = await temporaryFolder()
  t.after(folder.remove)
  const file = join(folder.path, 'afile')
  await writeFile(file, 'no folder')
  for (const path of [join(file, 'y.db'), join(file, 'deeper', 'y.db')]) {
    await fails(/cannot be opened: .*afile is no folder\.$/m, 'migrate', '--database', `sqlite:${path}`)
    await fails(/restored: .*afile is no folder\.$/m, 'restore', file, '--database', `sqlite:${path}`)
  }
  if (process.platform !== 'linux') return
  for (const [command, ...args] of [['migrate'], ['restore', file]]) {
    await fails(
      /the folder \/proc\/x cannot be made \(ENOENT\)/,
      command!,
      ...args,
      '--database',
      'sqlite:/proc/x/y.db',
    )
  }
})

test('2 - a path where a database URL belongs, with what was meant', async () => {
  for (const args of [
    ['check', '--database', '/tmp/x.db'],
    ['copy', '--from', '/tmp/x.db', '--to', 'sqlite:/tmp/y.db'],
  ]) {
    const { code, stderr } = await runCommand(args)
    assert.equal(code, 2)
    assert.match(stderr, /Did you mean sqlite:\/tmp\/x\.db\?/)
  }
})

test('a URL that is refused is repeated without its password', async () => {
  for (const flag of ['--audit-anchor', '--smtp-url']) {
    const { code, stderr } = await affiliated(['serve', flag, 'ftp://user:hidden@host/x'])
    assert.equal(code, 2)
    assert.match(stderr, /ftp:\/\/…@host\/x/)
    assert.ok(!stderr.includes('hidden'))
  }
})

test('users create says how an administrator without a password gets one', async t => {
  const folder = await temporaryFolder()
  t.after(folder.remove)
  const database = ['--database', `sqlite:${join(folder.path, 'new.db')}`]
  const create = (login: string, ...args: string[]) =>
    runCommand(['users', 'create', '--login', login, '--email', `${login}@example.com`, ...args, ...database])
  assert.match((await create('ada', '--admin')).stdout, /affiliated users password 'ada'\n$/)
  assert.doesNotMatch((await create('eve', '--admin', '--password', 'long enough')).stdout, /users password/)
  assert.doesNotMatch((await create('bob')).stdout, /users password/)
})

describe('check finds what is wrong', () => {
  for (const engine of Object.keys(engines)) {
    test(engine, async t => {
      const service = await startService(engine)
      t.after(() => service.close())
      const { database, databaseUrl } = service
      const affiliate = await service.newAffiliate('ada')
      const payout = await service.newPayout(affiliate.id, { referrals: [4, 8, 15], payout_method: 'Bank' })
      // A seal that is made meanwhile would continue the chain from what the last of these changes puts there.
      await until(async () => (await verifyChain(database.reader)).unsealed === 0)
      assert.equal((await succeeds('check', '--database', databaseUrl)).ok, true)
      const wrong: [string, string, RegExp][] = [
        [
          "UPDATE users SET email_key = 'x' WHERE id = 2",
          'UPDATE users SET email_key = email WHERE id = 2',
          /users 2: stale search key of email/,
        ],
        [
          "UPDATE affiliates SET payment_email_key = 'x'",
          'UPDATE affiliates SET payment_email_key = payment_email',
          /affiliates 1: stale search key of payment_email/,
        ],
        [
          "UPDATE payouts SET payout_method_key = 'x'",
          "UPDATE payouts SET payout_method_key = 'bank'",
          /payouts 1: stale search key of payout_method/,
        ],
        [
          'DELETE FROM payout_referrals WHERE referral_id = 8',
          `INSERT INTO payout_referrals (referral_id, payout_id) VALUES (8, ${payout.id})`,
          /payouts 1: its referrals are not what/,
        ],
        [
          "UPDATE payouts SET referrals = '4,8'",
          "UPDATE payouts SET referrals = '4,8,15'",
          /payouts 1: its referrals are not what/,
        ],
        [
          "UPDATE audit_chain SET hash = 'x', number = number + 7",
          'UPDATE audit_chain SET number = number - 7',
          /Audit log: The chain ends/,
        ],
      ]
      const run = (statement: string) => database.transaction(tx => sql.raw(statement).execute(tx))
      for (const [statement, mend, message] of wrong) {
        await run(statement)
        await fails(message, 'check', '--database', databaseUrl)
        await run(mend)
      }
    })
  }

  test('a file with a damaged page (SQLite)', async t => {
    const folder = await temporaryFolder()
    t.after(folder.remove)
    const file = join(folder.path, 'damaged.db')
    await runCommand(['demo', '--database', `sqlite:${file}`])
    const database = await openDatabase(`sqlite:${file}`)
    const { rows } = await sql<{ rootpage: number }>`
      SELECT rootpage FROM sqlite_schema WHERE name = 'payouts_amount'`.execute(database.reader)
    await database.close()
    const bytes = await readFile(file)
    bytes.fill(0, (rows[0]!.rootpage - 1) * 4096 + 100, rows[0]!.rootpage * 4096)
    await writeFile(file, bytes)
    await fails(/damaged|malformed/, 'check', '--database', `sqlite:${file}`)
  })
})

test('1 - PostgreSQL is backed up by its own tools', async () => {
  for (const command of ['backup', 'restore']) {
    await fails(
      /pg_dump.*docs\/operations\.md/,
      command,
      '/tmp/never.db',
      '--database',
      'postgres://x@127.0.0.1:1/x',
    )
  }
})

test('audit verify and export', async t => {
  const service = await startService('PostgreSQL')
  t.after(() => service.close())
  const { databaseUrl } = service
  for (let number = 0; number < 600; number += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, one) => service.newAffiliate(`many${number + one}`)))
  }
  await sealAll(service.database)
  const exported = await runCommand(['audit', 'export', '--database', databaseUrl])
  const entries = exported.stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  assert.equal(entries.length, 602)
  assert.equal(new Set(entries.map(({ id }) => id)).size, 602)
  const whole = await runCommand(['audit', 'export', '--json', '--database', databaseUrl])
  assert.deepEqual(JSON.parse(whole.stdout), { entries })
  const verdict = await succeeds('audit', 'verify', '--database', databaseUrl)
  assert.equal(verdict.problem, undefined)
  assert.match(verdict.last_hash, /^[0-9a-f]{64}$/)
  await service.database.transaction(async tx => {
    await sql`DROP TRIGGER events_update ON events`.execute(tx)
    await sql`UPDATE events SET record_id = 1 WHERE id = 500`.execute(tx)
  })
  await fails(
    /^error: The audit log was tampered with. Seal \d+ does not fit/,
    'audit',
    'verify',
    '--database',
    databaseUrl,
  )
})

for (const engine of Object.keys(engines)) {
  test(`an event that was put in later stays one, however often it is looked for (${engine})`, async t => {
    const fresh = await engines[engine]!()
    t.after(fresh.remove)
    const database = await openDatabase(fresh.url)
    const enter = (id: number, later = -60_000) =>
      database.transaction(async tx => {
        await write(operatorOf(within(database, tx)), async inner => inner.log('settings.edit', null))
        await sql`
          INSERT INTO events (id, at, actor_kind, actor_name, actor_id, address, action, record_kind, record_id,
            before_values, after_values, person_id, personal_hash, personal)
          SELECT CAST(${id} AS integer), at + CAST(${later} AS bigint), actor_kind, actor_name, actor_id, address, action, record_kind,
            record_id, before_values, after_values, person_id, personal_hash, personal
          FROM events WHERE id = (SELECT max(id) FROM events)`.execute(tx)
      })
    const verify = ['audit', 'verify', '--database', fresh.url]
    await enter(100)
    if (engine === 'PostgreSQL') {
      // Passed over, and there now: a transaction may have ended late.
      await sealEntries(database)
      await enter(60)
      await fails(/Entry 60 is in no seal, and nobody seals: start the service/, ...verify)
      await sealEntries(database)
      await succeeds(...verify)
    }
    // What was passed over is given up once every transaction has ended that ran then, those of other tests too.
    await until(async () => {
      await write(operatorOf(database), async tx => tx.log('user.create', null))
      await sealEntries(database)
      const { missing } = await database.reader
        .selectFrom('audit_chain')
        .selectAll()
        .executeTakeFirstOrThrow()
      return missing === '[]'
    })
    assert.equal((await succeeds(...verify)).unsealed, 0)
    await enter(50)
    for (const command of [verify, ['check', '--database', fresh.url], verify]) {
      await fails(/Entry 50 is in no seal/, ...command)
    }
    await enter(-5)
    for (const command of [verify, ['check', '--database', fresh.url], verify]) {
      await fails(/Entry -5 is in no seal/, ...command)
    }
    await enter(-7, 4_000_000_000_000)
    await fails(/Entry -7 is in no seal/, ...verify)
    await database.close()
  })

  test(`an end of the chain that was moved, so that nothing is sealed any more, is found (${engine})`, async t => {
    const fresh = await engines[engine]!()
    t.after(fresh.remove)
    const database = await openDatabase(fresh.url)
    t.after(() => database.close())
    const enter = () => write(operatorOf(database), async tx => tx.log('settings.edit', null))
    await enter()
    await sealEntries(database)
    const moveEnd = (id: number) =>
      database.transaction(tx => tx.updateTable('audit_chain').set({ last_entry: id }).execute())
    await moveEnd(900_000_000_000)
    await enter()
    const verify = ['audit', 'verify', '--database', fresh.url]
    for (const command of [verify, ['check', '--database', fresh.url]]) {
      await fails(/the end of the chain was changed to 900000000000/, ...command)
    }
    await moveEnd(1)
    assert.equal((await verifyChain(database.reader)).problem, undefined)
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 60_000 })
    assert.match((await verifyChain(database.reader)).problem!, /^Entry 2 is in no seal, and nobody seals/)
  })
}
