/** What a database URL names may be missing, damaged, or another program's. */
import assert from 'node:assert/strict'
import { chmod, readdir, readFile, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import pg from 'pg'
import { affiliated, runCommand, temporaryFolder, unopened } from './harness.ts'
import { execute } from './postgres.ts'

/** One line, and no stack. */
const refusingWith =
  (expected: number) =>
  async (message: RegExp, ...args: string[]): Promise<void> => {
    const start = args[0] === 'serve' ? affiliated : runCommand
    const { code, stdout, stderr } = await start(args)
    assert.deepEqual([code, stdout], [expected, ''], `${args.join(' ')}: ${stderr}`)
    assert.match(stderr, /^error: .*\n$/)
    assert.match(stderr, message)
  }
const assertRefused = refusingWith(1)
const assertMisused = refusingWith(2)

const commands = [
  ['check'],
  ['audit', 'verify'],
  ['users', 'list'],
  ['migrate'],
  ['serve', '--port', '0'],
  ['demo'],
]

describe('a database of another program', () => {
  for (const [name, statements] of Object.entries({
    'without a mark': 'CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES (1)',
    'with its own mark': 'PRAGMA application_id = 252006674; CREATE TABLE schema_version (version INTEGER)',
  })) {
    test(`1 - SQLite, ${name}: it is left as it is`, async t => {
      const folder = await temporaryFolder()
      t.after(folder.remove)
      const file = join(folder.path, 'other.db')
      const other = new DatabaseSync(file)
      other.exec(statements)
      other.close()
      const before = await readFile(file)
      for (const command of commands) {
        await assertRefused(
          /of another program: it was left as it is/,
          ...command,
          '--database',
          `sqlite:${file}`,
        )
      }
      await assertRefused(
        /other\.db is no database of affiliated/,
        'backup',
        join(folder.path, 'b.db'),
        '--database',
        `sqlite:${file}`,
      )
      await assertRefused(
        /other\.db is no database of affiliated/,
        'restore',
        file,
        '--database',
        `sqlite:${join(folder.path, 'r.db')}`,
      )
      assert.deepEqual(await readdir(folder.path), ['other.db'])
      assert.ok(before.equals(await readFile(file)))
    })
  }

  test('1 - PostgreSQL, for a command that looks', async t => {
    const fresh = await unopened.PostgreSQL!()
    t.after(fresh.remove)
    for (const command of commands.slice(0, 3)) {
      await assertRefused(/no database of affiliated at this URL/, ...command, '--database', fresh.url)
    }
    const client = new pg.Client(fresh.url)
    await client.connect()
    const { rows } = await client.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    await client.end()
    assert.deepEqual(rows, [])
  })

  test('1 - PostgreSQL, with a table by the name of one of this program: nothing is added', async t => {
    const fresh = await unopened.PostgreSQL!()
    t.after(fresh.remove)
    await execute(fresh.url, 'CREATE TABLE users (id bigint)')
    const words = /^error: The database has something by a name .*"users" already exists\.$/m
    for (const command of commands.slice(3)) await assertRefused(words, ...command, '--database', fresh.url)
    const tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
    assert.deepEqual(await execute(fresh.url, tables), [{ tablename: 'users' }])
  })
})

test('1 - PostgreSQL, by an account that may create no tables there', async t => {
  const fresh = await unopened.PostgreSQL!()
  const url = new URL(fresh.url)
  const account = `${url.pathname.slice(1)}_weak`
  await execute(fresh.url, `CREATE ROLE ${account} LOGIN PASSWORD 'weak'`)
  t.after(async () => {
    await execute(fresh.url, `DROP ROLE ${account}`)
    await fresh.remove()
  })
  // Before PostgreSQL 15, everybody may.
  await execute(fresh.url, 'REVOKE CREATE ON SCHEMA public FROM PUBLIC')
  Object.assign(url, { username: account, password: 'weak' })
  for (const command of commands.slice(3)) {
    await assertRefused(
      /lacks a privilege: permission denied for schema public\.$/m,
      ...command,
      '--database',
      url.href,
    )
  }
})

test('0 - a database of a version that did not mark its files is marked', async t => {
  const folder = await temporaryFolder()
  t.after(folder.remove)
  const file = join(folder.path, 'old.db')
  const database = ['--database', `sqlite:${file}`]
  assert.equal((await runCommand(['migrate', ...database])).code, 0)
  const mark = (statement: string) => {
    const opened = new DatabaseSync(file)
    const rows = opened.prepare(statement).all()
    opened.close()
    return rows[0]?.application_id
  }
  const affl = Buffer.from('affl').readUInt32BE()
  assert.equal(mark('PRAGMA application_id'), affl)
  mark('PRAGMA application_id = 0')
  assert.equal((await runCommand(['migrate', ...database])).code, 0)
  assert.equal(mark('PRAGMA application_id'), affl)
})

test('1 - a file that is damaged, with a sentence that says what to do', async t => {
  const folder = await temporaryFolder()
  t.after(folder.remove)
  const file = join(folder.path, 'damaged.db')
  const database = ['--database', `sqlite:${file}`]
  assert.equal((await runCommand(['demo', ...database])).code, 0)
  const whole = await readFile(file)
  const serve = ['serve', '--port', '0', ...database]
  await truncate(file, whole.length / 2)
  await assertRefused(/damaged\.db cannot be opened: .*restore the last backup\.$/m, ...serve)
  // The beginning of the table of tables, and that of every page behind the first.
  for (const [from, to] of [
    [100, 4096],
    [4096, whole.length],
  ] as const) {
    await writeFile(file, Buffer.from(whole).fill(0xff, from, to))
    await assertRefused(/damaged: stop the service, keep the file, and restore the last backup/, ...serve)
  }
})

test('1 - a file that cannot be opened, with what is in the way', async t => {
  const folder = await temporaryFolder()
  t.after(folder.remove)
  const link = join(folder.path, 'loop.db')
  await symlink(link, link)
  await assertRefused(
    /loop\.db cannot be written to \(ELOOP\)\.$/m,
    'migrate',
    '--database',
    `sqlite:${link}`,
  )
  // A log that another account has left is in the way as well.
  const beside = `sqlite:${join(folder.path, 'beside.db')}`
  await runCommand(['migrate', '--database', beside])
  await symlink(join(folder.path, 'beside.db-wal'), join(folder.path, 'beside.db-wal'))
  await assertRefused(/beside\.db-wal cannot be written to \(ELOOP\)\.$/m, 'migrate', '--database', beside)
  // Who may write everywhere.
  if (process.getuid?.() === 0) return
  await chmod(folder.path, 0o500)
  const file = join(folder.path, 'new.db')
  await assertRefused(/ cannot be written to \(EACCES\)\.$/m, 'migrate', '--database', `sqlite:${file}`)
  const elsewhere = await temporaryFolder()
  t.after(elsewhere.remove)
  const whole = `sqlite:${join(elsewhere.path, 'whole.db')}`
  await runCommand(['migrate', '--database', whole])
  await assertRefused(
    /could not be copied into .*: unable to open database file\. \S+ cannot be written to \(EACCES\)\.$/m,
    'backup',
    file,
    '--database',
    whole,
  )
  await chmod(folder.path, 0o700)
})

test('2 - a URL for SQLite with two slashes says how it is written', async () => {
  await assertMisused(
    /named by its path, as sqlite:PATH: did you mean sqlite:x\.db\?/,
    'serve',
    '--database',
    'sqlite://x.db',
  )
  await assertMisused(/did you mean sqlite:\/tmp\/x\.db\?/, 'check', '--database', 'sqlite:///tmp/x.db')
})

test('2 - parameters of a URL that leave open what TLS is to be like', async () => {
  const connect = (parameters: string) => [
    'check',
    '--database',
    `postgres://u:secret@127.0.0.1:1/x?${parameters}`,
  ]
  await assertMisused(/says sslmode twice/, ...connect('sslmode=require&sslmode=disable'))
  await assertMisused(/says SSLMODE, which is not known/, ...connect('SSLMODE=require'))
  await assertMisused(/says ssl, which is not known/, ...connect('ssl=no-verify'))
})

test('2 - a URL that names several hosts, as other programs take it, and 1 - one whose password has a comma', async () => {
  for (const url of [
    'postgres://u:p@one:5432,two:5432/x',
    'postgres://one,two/x',
    'postgres:///x?host=one,two',
  ]) {
    await assertMisused(/names several hosts: name one address/, 'check', '--database', url)
  }
  await assertRefused(/ECONNREFUSED/, 'check', '--database', 'postgres://u:a,b@127.0.0.1:1/x')
})
