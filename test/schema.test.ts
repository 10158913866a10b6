/** Whether the tables that the code declares are those that the migrations make, on both engines. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { type RawBuilder, sql } from 'kysely'
import { usersTable } from '../src/accounts/users/table.ts'
import { features, schema } from '../src/app.ts'
import { objectsOf } from '../src/operations/check/new.ts'
import { type Field, type Part, partsOf } from '../src/records/field.ts'
import { storeOf } from '../src/records/store.ts'
import { earning } from '../src/settings/earning.ts'
import { payouts } from '../src/settings/payouts.ts'
import { tracking } from '../src/settings/tracking.ts'
import type { Database } from '../src/storage/database.ts'
import { prepareSearch } from '../src/storage/search-index.ts'
import { ACCOUNTS, columnsOf, searchedColumns } from '../src/storage/table.ts'
import { describeService } from './harness.ts'

interface Found {
  readonly name: string
  readonly type: string
  readonly nullable: boolean
}

async function columnsIn({ engine, reader }: Database, table: string): Promise<Found[]> {
  if (engine.name === 'SQLite') {
    const { rows } = await sql<{ name: string; type: string; notnull: number; pk: number }>`
      SELECT * FROM pragma_table_info(${table})`.execute(reader)
    return rows.map(({ name, type, notnull, pk }) => ({
      name,
      type: type.toLowerCase(),
      nullable: notnull === 0 && pk === 0,
    }))
  }
  const { rows } = await sql<{ column_name: string; data_type: string; is_nullable: string }>`
    SELECT column_name, data_type, is_nullable FROM information_schema.columns
    WHERE table_schema = 'public' AND table_name = ${table}`.execute(reader)
  return rows.map(({ column_name, data_type, is_nullable }) => ({
    name: column_name,
    type: data_type === 'bigint' ? 'integer' : data_type,
    nullable: is_nullable === 'YES',
  }))
}

/** @returns each column with the table and column that it refers to */
async function foreignKeys({ engine, reader }: Database, table: string): Promise<string[][]> {
  const keys =
    engine.name === 'SQLite'
      ? sql`SELECT "from" AS name, "table" AS target, "to" AS target_column FROM pragma_foreign_key_list(${table})`
      : sql`SELECT own.attname AS name, target.relname AS target, other.attname AS target_column
          FROM pg_constraint
          JOIN pg_class target ON target.oid = confrelid
          JOIN pg_attribute own ON own.attrelid = conrelid AND own.attnum = conkey[1]
          JOIN pg_attribute other ON other.attrelid = confrelid AND other.attnum = confkey[1]
          WHERE contype = 'f' AND conrelid = ${table}::regclass`
  const { rows } = await (keys as RawBuilder<Record<'name' | 'target' | 'target_column', string>>).execute(
    reader,
  )
  return rows.map(({ name, target, target_column }) => [name, target, target_column])
}

/** A new payment format brings a value of its own without a migration. */
const GROWING = 'payout_runs.method'

/** Its list of four statuses is from 0.1, and stays as it is: the table would have to be made anew. */
const OF_THE_FIRST_RELEASE = 'affiliates'

const choicesOf = ({ wire }: Field): unknown =>
  wire && 'enum' in wire && Array.isArray(wire.enum) ? wire.enum.toSorted() : undefined

/** Compares two sets, so that a failure says what is missing on which side. */
function assertDeclared(declared: readonly unknown[], inDatabase: readonly unknown[]): void {
  const without = (all: readonly unknown[], others: readonly unknown[]) =>
    all.filter(one => !others.some(other => isDeepStrictEqual(one, other)))
  assert.deepEqual(
    { onlyDeclared: without(declared, inDatabase), onlyInDatabase: without(inDatabase, declared) },
    { onlyDeclared: [], onlyInDatabase: [] },
    'a migration has to make what is only declared, and a declaration to say what is only in the database',
  )
  assert.equal(inDatabase.length, declared.length)
}

describeService('the tables that are declared', service => {
  for (const table of schema) {
    test(`${table.name}: names, types and what may be null are those of the database`, async () => {
      const declared = [...columnsOf(table)].map(([name, { type, nullable }]) => ({ name, type, nullable }))
      assertDeclared(declared, await columnsIn(service().database, table.name))
    })
  }

  for (const table of schema) {
    test(`${table.name}: what it refers to and does not outlive is a foreign key`, async () => {
      const declared = [...columnsOf(table)].flatMap(([name, { references }]) =>
        references && !references.outlives ? [[name, references.table, references.column ?? 'id']] : [],
      )
      assertDeclared(declared, await foreignKeys(service().database, table.name))
    })
  }

  test('values that a field can have are those that the database takes', async t => {
    const { engine, reader } = service().database
    // The migrations give both engines the same lists.
    if (engine.name !== 'SQLite') return t.skip()
    for (const { kind } of features) {
      const { rows } = await sql<{ definition: string }>`
        SELECT sql AS definition FROM sqlite_schema WHERE name = ${kind.table.name}`.execute(reader)
      const lists = rows[0]!.definition.matchAll(
        /CHECK \((\w+) (?:IN \('[^)]*|= '[^']*'(?: OR \1 = '[^']*')*)\)/g,
      )
      const taken = [...lists].map(([check, column]): [string, string[]] => [
        `${kind.name}.${column}`,
        [...check.matchAll(/'([^']*)'/g)].map(([, value]) => value!).toSorted(),
      ])
      const values = partsOf(kind.fields).flatMap(({ column, field }) => {
        const choices = choicesOf(field)
        return choices && `${kind.table.name}.${column}` !== GROWING
          ? [[`${kind.name}.${column}`, choices]]
          : []
      })
      assertDeclared(values, taken)
    }
  })

  test('an amount that can be sent has a CHECK in the database', async t => {
    const { engine, reader } = service().database
    if (engine.name !== 'SQLite') return t.skip()
    const unchecked: string[] = []
    for (const { kind } of features) {
      const { rows } = await sql<{ definition: string }>`
        SELECT sql AS definition FROM sqlite_schema WHERE name = ${kind.table.name}`.execute(reader)
      const isChecked = ({ column }: Part) => rows[0]!.definition.includes(`CHECK (${column} `)
      const amounts = partsOf(kind.fields).filter(({ field }) => field.money === true && field.create)
      unchecked.push(
        ...amounts.filter(amount => !isChecked(amount)).map(({ column }) => `${kind.table.name}.${column}`),
      )
    }
    // The first may be negative; nobody is paid by the others.
    const others = ['referrals.amount', 'referrals.order_total', 'payout_runs.minimum']
    assert.deepEqual(unchecked, others, 'a migration has to CHECK each other amount, such as that it is >= 0')
  })

  test('a deletion finds by an index what refers to the record', async t => {
    const { engine, reader } = service().database
    // The migrations give both engines the same indexes.
    if (engine.name !== 'SQLite') return t.skip()
    const unindexed: string[] = []
    for (const table of schema) {
      for (const [name, { references }] of columnsOf(table)) {
        // Accounts are never deleted.
        if (!references || references.outlives || references.table === ACCOUNTS) continue
        const { rows } = await sql<{ detail: string }>`EXPLAIN QUERY PLAN
          SELECT 1 FROM ${sql.table(table.name)} WHERE ${sql.ref(name)} = 1`.execute(reader)
        if (!rows[0]!.detail.startsWith('SEARCH')) unindexed.push(`${table.name}.${name}`)
      }
    }
    assert.deepEqual(unindexed, [], 'a migration has to make an index that begins with each of these columns')
  })

  test('no insertion of a row makes SQLite make a table', async t => {
    const { engine, reader } = service().database
    if (engine.name !== 'SQLite') return t.skip()
    for (const table of schema) {
      const names = [...columnsOf(table).keys()]
      const insertion = `INSERT INTO ${table.name} (${names}) VALUES (${names.map(() => '1')})`
      const { rows } = await sql<{ opcode: string }>`EXPLAIN ${sql.raw(insertion)}`.execute(reader)
      const makesOne = rows.some(({ opcode }) => opcode === 'OpenEphemeral')
      assert.equal(makesOne, table.name === OF_THE_FIRST_RELEASE, table.name)
    }
  })

  test('there is no other table', async () => {
    const { engine, reader } = service().database
    const tables =
      engine.name === 'SQLite'
        ? // Its search index is made of tables, and is its own.
          sql`sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'search\\_%' ESCAPE '\\'`
        : sql`(SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public') AS tables`
    const { rows } = await sql<{ name: string }>`SELECT name FROM ${tables}`.execute(reader)
    const declared = [...schema.map(({ name }) => name), 'schema_version']
    const names = rows.map(({ name }) => name)
    assert.deepEqual(
      names.sort(),
      declared.sort(),
      'src/app.ts has to list each table, or the feature that has it',
    )
  })
})

describeService('the search indexes that are declared', service => {
  /** @returns what each index has of its table, in order */
  const indexed = async ({ engine, reader }: Database) => {
    const { rows } = await (engine.name === 'SQLite'
      ? sql<{ name: string; definition: string }>`SELECT name, sql AS definition FROM sqlite_schema
          WHERE sql LIKE 'CREATE VIRTUAL TABLE search\\_%' ESCAPE '\\'`
      : sql<{
          name: string
          definition: string
        }>`SELECT indexname AS name, indexdef AS definition FROM pg_indexes
          WHERE indexname LIKE 'search\\_%'`
    ).execute(reader)
    return new Map(rows.map(({ name, definition }) => [name, definition.match(/\b\w+_key\b/g)]))
  }

  test('are in the database, with exactly what is searched', async () => {
    const { database } = service()
    assert.equal(await prepareSearch(database), undefined)
    const declared = schema.filter(({ hasSearchIndex }) => hasSearchIndex)
    const wanted = new Map(declared.map(table => [`search_${table.name}`, searchedColumns(table)]))
    assert.deepEqual(await indexed(database), wanted)
  })
})

describeService(
  'what a check compares the tables of PostgreSQL with',
  service => {
    test('is what the migrations make: `npm run schema` writes it anew', async t => {
      const objects = await objectsOf(service().database)
      const file = fileURLToPath(new URL('../src/storage/postgres/objects.json', import.meta.url))
      try {
        t.assert.fileSnapshot(objects, file, {
          serializers: [objects => `${JSON.stringify(objects, null, 2)}\n`],
        })
      } catch {
        // The comparison would print both schemas as a whole.
        const linesOf = (some: readonly object[]) => some.map(one => JSON.stringify(one))
        const [made, stored] = [linesOf(objects), linesOf(JSON.parse(await readFile(file, 'utf8')))]
        const differences = [
          ...made.filter(one => !stored.includes(one)).map(one => `+ ${one}`),
          ...stored.filter(one => !made.includes(one)).map(one => `- ${one}`),
        ]
        assert.fail(`Run \`npm run schema\`. It would write:\n${differences.join('\n')}`)
      }
    })
  },
  { only: 'PostgreSQL' },
)

describeService(
  'the fields that are declared to be indexed',
  service => {
    /** @returns what SQLite does beyond reading an index in its order */
    const detours = async (query: RawBuilder<unknown>) => {
      const { rows } = await sql<{ detail: string }>`EXPLAIN QUERY PLAN ${query}`.execute(
        service().database.reader,
      )
      return rows
        .map(({ detail }) => detail)
        .filter(detail => !/^(SEARCH|SCAN) \w+ USING .*(INDEX|KEY)/.test(detail))
    }

    for (const { kind } of features) {
      test(`${kind.name}: a page of one value, or in the order of each, is read from an index in order`, async () => {
        const table = sql.table(kind.table.name)
        const { orders } = storeOf(kind as never)
        for (const { name, column, field } of partsOf(kind.fields)) {
          if (!kind.indexed.includes(name)) continue
          const order = orders[name]
          if (order) {
            const query = sql`SELECT * FROM ${table} ORDER BY ${order.expression}, id LIMIT 21`
            const hint = field.nullable
              ? ', of coalesce: leave it out of `indexed`, and index those that are set'
              : ''
            assert.deepEqual(await detours(query), [], `${name}: order${hint}`)
          }
          if (field.filter === undefined || field.money) continue
          const [condition] = field.filter.where(sql.ref(`${kind.table.name}.${column}`), [1])
          const query = sql`SELECT * FROM ${table} WHERE ${condition} AND id > 5 AND id NOT IN (7) ORDER BY id LIMIT 21`
          assert.deepEqual(await detours(query), [], `${name}: one value`)
        }
      })

      test(`${kind.name}: an index of days is declared`, async () => {
        const { rows } = await sql`SELECT name FROM sqlite_schema
        WHERE type = 'index' AND tbl_name = ${kind.table.name} AND sql LIKE '%/ 86400%, id)'`.execute(
          service().database.reader,
        )
        assert.equal(kind.hasDayIndex, rows.length > 0)
      })

      if (kind.hasDayIndex) {
        test(`${kind.name}: a page of a day is read from it in order`, async () => {
          const condition = storeOf(kind as never).matching({ day: 20_000 })
          const query = sql`SELECT * FROM ${sql.table(kind.table.name)} WHERE ${condition} AND id > 5 ORDER BY id LIMIT 21`
          assert.deepEqual(await detours(query), [])
        })
      }

      test(`${kind.name}: every index of one column in the order of identifiers is declared`, async () => {
        const { rows } = await sql<{ sql: string }>`SELECT sql FROM sqlite_schema
        WHERE type = 'index' AND tbl_name = ${kind.table.name}`.execute(service().database.reader)
        const columns = rows.flatMap(({ sql }) => /\("?(\w+)"?, "?id"?\)$/.exec(sql ?? '')?.[1] ?? [])
        const listed = partsOf(kind.fields).filter(
          ({ column, field, name }) =>
            columns.includes(column) && (field.filter || storeOf(kind as never).orders[name]),
        )
        assert.deepEqual(
          listed.map(({ name }) => name).filter(name => !kind.indexed.includes(name)),
          [],
          'add these to `indexed` of the definition',
        )
      })
    }
  },
  { only: 'SQLite' },
)

describe('the kinds of record that are declared', () => {
  test('what a table refers to comes before it', () => {
    const wrong = schema.flatMap((table, place) =>
      [...columnsOf(table)].flatMap(([column, { references }]) => {
        if (!references || references.outlives) return []
        const before = schema.slice(0, place + 1).some(({ name }) => name === references.table)
        return before ? [] : [`${table.name}.${column}`]
      }),
    )
    assert.deepEqual(wrong, [])
  })

  test('each has a name and a table of its own', () => {
    const names = features.map(({ kind }) => kind.name)
    const tables = schema.map(({ name }) => name)
    assert.deepEqual(names, [...new Set(names)])
    assert.deepEqual(tables, [...new Set(tables)])
  })

  test('what is erased with a person belongs to one, and can be emptied', () => {
    const wrong = schema.flatMap(table => {
      const columns = [...columnsOf(table)]
      const isAboutPerson = table === usersTable || columns.some(([, { references }]) => references?.person)
      if (table.removedWithPerson && !isAboutPerson) return [table.name]
      return columns.flatMap(([name, { personal, type, nullable }]) => {
        if (personal !== 'erase') return []
        const canBeEmpty = nullable || type === 'text'
        return isAboutPerson && canBeEmpty ? [] : [`${table.name}.${name}`]
      })
    })
    assert.deepEqual(wrong, [])
  })

  for (const { kind } of features) {
    test(`${kind.name}: what the types promise is what the values have`, () => {
      const settings = {
        defaultRate: 0,
        defaultRateType: 'flat',
        rateTypes: ['flat'],
        currency: 'USD',
        decimals: 2,
        tracking: tracking.valuesOf(new Map()),
        payouts: payouts.valuesOf(new Map()),
        rulesVersion: '',
        earning: earning.valuesOf(new Map()),
      }
      const samples = { random: () => 0.5, row: () => 1, time: 1_000_000 }
      const row = { id: 1, ...kind.sample(samples) } as never
      const record = kind.show(row, settings)
      assert.deepEqual(Object.keys(record), Object.keys(kind.record.properties))
      assert.deepEqual(JSON.parse(kind.write(row, settings)), record)
      const columns = Object.keys(row).filter(name => name !== 'id')
      assert.deepEqual(columns.sort(), [...columnsOf(kind.table).keys()].filter(name => name !== 'id').sort())
      const names = partsOf(kind.fields).map(({ name }) => name)
      assert.deepEqual(
        Object.keys({ ...kind.create.properties, ...kind.edit.properties }).filter(
          name => !names.includes(name) && name !== `${kind.name}_id`,
        ),
        [],
      )
    })
  }
})
