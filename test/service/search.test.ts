/** Searches by an index that is written later: their answers are the same before and after, and while names change. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { sql } from 'kysely'
import { usersTable } from '../../src/accounts/users/table.ts'
import { features } from '../../src/app.ts'
import { parseSearch } from '../../src/base/text.ts'
import { checkDatabase, repair } from '../../src/operations/check/rules.ts'
import { fillWithDemo } from '../../src/operations/demo/demo.ts'
import { erasePerson } from '../../src/operations/privacy/rules.ts'
import { customer } from '../../src/programme/customers/customer.ts'
import { insertMany } from '../../src/storage/insert-many.ts'
import { catchUpSearch, prepareSearch, withCandidates } from '../../src/storage/search-index.ts'
import { describeService, operatorOf, type Service } from '../harness.ts'

const NAMES = ['Ümlaut Straße', 'Pat O"Brien', "Sam O'Brien", '50%_\\ off', '漢字名前', 'Al Li', 'ꙮ']
const SEARCHES = [
  ...['novak', 'NOVÁK ana', 'ana.', 'kov', 'an', 'n', 'al li', 'li ana', 'example.com', 'odd3@example.com'],
  ...['o"br', "o'brien", '50%_\\', '漢字名', '漢字', 'ümlaut straße', 'umlaut strasse', 'zzz nobody', '#5'],
  ...['\u0301', 'ꙮ', 'AND', '"', 'a* OR b', 'word '.repeat(40).trim(), 'x'.repeat(254)],
]

/** What each search finds: all of it in two orders, a page, and how many. */
async function answers(service: Service): Promise<unknown[]> {
  const answers: unknown[] = []
  for (const search of SEARCHES) {
    const query = `count=1&search=${encodeURIComponent(search)}`
    for (const path of [
      `/affiliates?number=0&fields=ids&${query}`,
      `/affiliates?number=0&status=active&orderby=account_email&order=desc&fields=ids&${query}`,
      `/affiliates?number=2&offset=1&user=1&${query}`,
      `/customers?number=0&fields=ids&${query}`,
    ]) {
      const { status, headers, body } = await service.get(path)
      answers.push([path, status, headers.get('x-total-count'), headers.get('link'), body])
    }
  }
  return answers
}

/** The index has what it is to have, and nothing else, where the program writes it. */
async function refuseOther({ database }: Service): Promise<void> {
  if (database.engine.name !== 'SQLite') return
  for (const index of ['search_users', 'search_customers'].map(name => sql.table(name))) {
    await database.transaction(tx =>
      sql`INSERT INTO ${index} (${index}, rank) VALUES ('integrity-check', 1)`.execute(tx),
    )
  }
}

describeService('search by an index', service => {
  const found = async (path: string, search: string): Promise<number[]> =>
    (await service().get(`${path}?number=0&fields=ids&search=${encodeURIComponent(search)}`)).body
  const problems = async () =>
    // The buyers of this test were made without a log.
    (await checkDatabase(service().database, features)).problems.filter(
      text => !/^customers.* (log|rows)/.test(text),
    )

  before(async () => {
    const { database } = service()
    await fillWithDemo(database, features, { affiliates: 500, payouts: 10 })
    const admin = await service().admin()
    for (const [number, display_name] of NAMES.entries()) {
      const account = { login: `odd${number}`, email: `odd${number}@example.com`, display_name }
      const { body } = await admin.post('/users', account)
      assert.equal((await service().post('/affiliates', { user_id: body.id })).status, 201)
    }
    const sample = { random: Math.random, row: () => 1, time: 1_000_000 }
    const buyers = Array.from({ length: 300 }, (_, number) => ({
      ...customer.sample(sample),
      ...{ first_name: `漢字名${number}`, first_name_key: `漢字名${number}` },
    }))
    await database.transaction(tx => insertMany(tx, { table: customer.table.name }, buyers))
  })

  test('200 - the answers are those of before the index was written', async () => {
    const { database } = service()
    // Whatever the service has written by now.
    await repair(database)
    const before = await answers(service())
    await catchUpSearch(database)
    const search = await withCandidates(
      database.engine,
      database.reader,
      usersTable,
      parseSearch('odd1@'),
      'all',
    )
    assert.ok('candidates' in search, 'there is an index')
    const candidates = Object.keys(JSON.parse(search.candidates!))
    assert.ok(candidates.length < 300, `it has left ${candidates.length} rows to be looked at`)
    assert.deepEqual(await answers(service()), before)
    await refuseOther(service())
    assert.deepEqual(await problems(), [])
  })

  test('200 - a new name is found at once, and what was erased is gone from the index', async () => {
    const { database } = service()
    const [id] = await found('/affiliates', '漢字名')
    const user = (await service().get(`/affiliates/${id}`)).body.user_id
    const [buyer, other] = await found('/customers', '漢字名')
    const admin = await service().admin()
    assert.equal((await admin.patch(`/users/${user}`, { display_name: '龍馬伝' })).status, 200)
    assert.deepEqual([await found('/affiliates', '漢字名'), await found('/affiliates', '龍馬伝')], [[], [id]])
    assert.equal((await service().patch(`/customers/${buyer}`, { first_name: '龍馬伝' })).status, 200)
    assert.equal((await service().delete(`/customers/${other}`)).status, 200)
    assert.deepEqual(await found('/customers', '龍馬伝'), [buyer])
    assert.ok(!(await found('/customers', '漢字名')).includes(other!))
    await refuseOther(service())

    await erasePerson(operatorOf(database), user)
    assert.deepEqual(await found('/affiliates', '龍馬伝'), [])
    if (database.engine.name === 'SQLite') {
      const { rows } = await sql<{ rows: number }>`
        SELECT count(*) AS rows FROM search_users_data WHERE instr(block, ${Buffer.from('漢字名')}) > 0`.execute(
        database.reader,
      )
      assert.equal(rows[0]!.rows, 0)
    }
    assert.deepEqual(await problems(), [])
  })

  test('check names what an index has lost, and a repair finds it again', async t => {
    const { database } = service()
    if (database.engine.name !== 'SQLite') return t.skip()
    await database.transaction(tx =>
      sql`INSERT INTO search_users (search_users) VALUES ('delete-all')`.execute(tx),
    )
    assert.match(
      (await problems()).join('\n'),
      /users \d+: searches miss it; run `affiliated check --repair`/,
    )
    await repair(database)
    assert.deepEqual(await problems(), [])
    assert.ok((await found('/affiliates', 'novak')).length > 0)
  })
})

describeService(
  'search in a new database',
  service => {
    test('tables that were empty when they got their index are not planned for as empty ones', async () => {
      const { database } = service()
      assert.equal(await prepareSearch(database), undefined)
      const { rows } = await sql<{ search: string | null; reltuples: number }>`
        SELECT to_regclass('search_customers')::text AS search, reltuples FROM pg_class
          WHERE oid = 'customers'::regclass`.execute(database.reader)
      // Unknown: the planner then expects some rows, where with 0 it would expect none until the next ANALYZE.
      assert.deepEqual(rows, [{ search: 'search_customers', reltuples: -1 }])
    })
  },
  { only: 'PostgreSQL' },
)
