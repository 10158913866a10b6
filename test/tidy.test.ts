/** The promises that the house makes about itself: the import arrow, what a file may know, and the generated pages. */
import assert from 'node:assert/strict'
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { parseSync } from 'vite'
import { generated } from '../docs/generate.ts'
import { schema } from '../src/app.ts'
import { hasMembers } from '../src/base/unknown.ts'
import { serveOptions } from '../src/process/config.ts'
import { commandsOn } from '../src/process/program.ts'
import { tablesNamed } from './table-names.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const source = join(root, 'src')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
  path => path.endsWith('.ts') && !path.endsWith('.test.ts'),
)

/** What a file imports: files relative to src, and packages by name. */
const importsOf = (path: string): string[] => importedIn(source, path, /(?:from|import\(|import) ?'([^']+)'/g)

/** @param imports finds what is imported in its first group @returns files relative to the folder, and packages by name */
function importedIn(folder: string, path: string, imports: RegExp): string[] {
  const text = readFileSync(join(folder, path), 'utf8')
  return [...text.matchAll(imports)].map(([, target]) =>
    target!.startsWith('.') ? relative(folder, resolve(folder, dirname(path), target!)) : target!,
  )
}

const imports = new Map(files.map(path => [path, importsOf(path)]))

/** The import arrow: each folder imports itself and what stands to its left, and nothing else. */
const arrow = [
  'base',
  'storage',
  'events',
  'http',
  'records',
  'cli',
  'settings',
  'accounts',
  'programme',
  'operations',
  'admin',
  'app.ts',
  'process',
  'main.ts',
]
const room = (path: string) => arrow.indexOf(path.split('/')[0]!)

describe(`the import arrow: ${arrow.join(' <- ')}`, () => {
  test('every folder and file of src has its place', () => {
    assert.deepEqual(readdirSync(source).toSorted(), arrow.toSorted())
  })

  test('imports lead to the left', () => {
    const wrong = [...imports].flatMap(([path, targets]) =>
      targets
        .filter(target => imports.has(target) && room(target) > room(path))
        .map(target => `${path} imports ${target}`),
    )
    assert.deepEqual(wrong, [])
  })

  test('no file imports itself by way of others', () => {
    assert.deepEqual(cyclesIn(imports), [])
  })
})

/** @param imports what each file imports @returns each way that leads back to where it began */
function cyclesIn(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>()
  const cycles: string[] = []
  const follow = (path: string, way: readonly string[]) => {
    if (way.includes(path)) cycles.push([...way.slice(way.indexOf(path)), path].join(' -> '))
    if (done.has(path) || way.includes(path)) return
    for (const target of imports.get(path) ?? []) follow(target, [...way, path])
    done.add(path)
  }
  for (const path of imports.keys()) follow(path, [])
  return cycles
}

/**
 * The tables of other folders that a store may name: joins, and figures made of several kinds of record. Whatever works
 * on all tables or on all kinds of record goes through what they declare instead.
 */
const joins: Readonly<Record<string, string>> = {
  // Who did it, whose it is, and which affiliate an account is.
  'events/store.ts': 'users',
  'accounts/keys/store.ts': 'users',
  'accounts/sessions/store.ts': 'users',
  'accounts/users/store.ts': 'affiliates second_factors',
  'programme/affiliates/name.ts': 'users',
  'programme/affiliates/store.ts': 'groups users',
  'programme/links/store.ts': 'affiliates users',
  // What an affiliate has sold, who belongs to a group, who is owed though deleted.
  'programme/commission/sales-store.ts': 'referrals',
  'programme/groups/store.ts': 'affiliates rules',
  'programme/ledger/store.ts': 'affiliates payouts referrals run_items',
  // Whether what a failed payout was for is paid otherwise.
  'programme/payouts/payout.ts': 'referrals',
  // One sale writes several kinds of record; many visits are written together; a run pays what is unpaid.
  'programme/conversions/relations-store.ts': 'customers',
  'programme/conversions/customers-store.ts': 'customers',
  'programme/conversions/store.ts': 'affiliates payouts referrals users visits',
  'programme/runs/store.ts': 'affiliates balances payout_referrals payouts referrals',
  // What is stored twice is compared.
  'programme/runs/check-store.ts': 'balances payouts referrals',
  'programme/ledger/check/store.ts':
    'affiliates events payout_referrals payouts referrals run_items sales_months visit_days visits',
  'operations/check/store.ts': 'events users',
  // Figures of the area.
  'admin/reports/earning-store.ts':
    'affiliates balances ledger_transfers referrals users visit_days visit_totals',
  'admin/reports/store.ts': 'affiliates payouts users',
  'admin/tracking/store.ts': 'visits',
}

test('a table is named in its own folder, in migrations and in the joins above, nowhere else', () => {
  const owners = new Map(files.flatMap(tablesDeclaredIn))
  assert.deepEqual(
    schema.map(({ name }) => name).filter(name => !owners.has(name)),
    [],
    'whoever declares a table adds it to Tables',
  )
  const named = files
    .filter(path => !path.startsWith('storage/migrations'))
    .map(path => {
      const tables = tablesNamed(path, read(`src/${path}`), new Set(owners.keys()))
      return [path, [...tables].filter(name => !path.startsWith(`${owners.get(name)}/`)).toSorted()] as const
    })
    .filter(([, names]) => names.length > 0)
  assert.deepEqual(Object.fromEntries(named.map(([path, names]) => [path, names.join(' ')])), joins)
})

/** Each table of `interface Tables`, with the folder. */
function tablesDeclaredIn(path: string): [table: string, folder: string][] {
  const [, members = ''] = /interface Tables \{\n([^}]*)\}/.exec(read(`src/${path}`)) ?? []
  return [...members.matchAll(/^ +(\w+):/gm)].map(([, name]) => [name!, dirname(path)])
}

const pages = ['web/src', 'web/script'].flatMap(folder =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(path => /\.tsx?$/.test(path))
    .map(path => `${folder}/${path}`),
)

/** What is imported when a file is loaded: neither types nor what `import()` loads later. */
const LOADED = /^(?:import|export)\b(?! type\b)[^'()]*'([^']+)'/gm

test('no file of the administration area imports itself by way of others', () => {
  const imported = new Map(pages.map(path => [path, importedIn(root, path, LOADED)]))
  assert.ok(imported.get('web/src/main.tsx')?.includes('web/src/App.tsx'))
  assert.deepEqual(cyclesIn(imported), [])
})

const MOST_LINES = 60

/** The functions of a file that are too long. The linter's own rule leaves out the lines within JSX. */
function longFunctions(path: string): string[] {
  const text = read(path)
  const long: string[] = []
  const visit = (node: unknown, name: string): void => {
    if (typeof node !== 'object' || node === null) return
    const { type, start, end, id, key } = node as {
      type?: string
      start: number
      end: number
      id?: { name?: string } | null
      key?: { name?: string } | null
    }
    const label = id?.name ?? key?.name ?? name
    if (/^(?:Function|ArrowFunction)/.test(type ?? '')) {
      const lines = text
        .slice(start, end)
        .split('\n')
        .filter(line => line.trim() !== '').length
      if (lines > MOST_LINES) long.push(`${path}: ${label} has ${lines} lines`)
    }
    for (const child of Object.values(node)) visit(child, label)
  }
  visit(parseSync(path, text).program, 'a function')
  return long
}

/** Files that read requests, or serve what is no record. */
const READERS = [
  'accounts/sessions/authenticate',
  'accounts/users/wordpress',
  'admin/area',
  'admin/web',
  'operations/privacy/answers',
  'programme/conversions/bulk',
  'programme/exchange/importing',
  'programme/referrals/importing',
  'programme/sources/deliveries',
  'programme/sources/reading',
]

/** A file of a feature is one of rules, unless its name says that it declares. */
const rules = new RegExp(
  `^(?!(?:${READERS.join('|')}).ts$)(?:settings|accounts|programme|operations|admin)/(?!.*(?:schema|store|routes|commands|feature).ts$)`,
)

describe('what a file may know', () => {
  test('files that read requests are there', () => {
    assert.deepEqual(
      READERS.filter(path => !importsOf(`${path}.ts`).some(target => /^(?:http\/|fastify$)/.test(target))),
      [],
    )
  })

  const forbidden: [RegExp, RegExp, string][] = [
    [
      /schema\.ts$/,
      /^(?:fastify|kysely|storage\/(?!table\.ts)|.*(?:rules|store|routes|commands)\.ts$)/,
      'a schema knows no database and no rules',
    ],
    [rules, /^(?:fastify|commander|http\/|.*(?:routes|commands)\.ts$)/, 'rules know no HTTP or command line'],
    [/rules\.ts$/, /^kysely$/, 'rules know no SQL'],
    [
      /store\.ts$/,
      /^(?:fastify|http\/(?!.*table\.ts$)|.*rules\.ts$|.*routes\.ts$|events\/write\.ts$)/,
      'a store knows tables only',
    ],
    [/routes\.ts$/, /^(?:fastify|kysely|storage\/(?!table\.ts))/, 'routes hold no queries'],
    [/^(?!app\.ts|http\/|process\/|admin\/|accounts\/)/, /^fastify$/, 'only the HTTP side knows Fastify'],
    [/^(?!.*store\.ts$|storage\/|records\/|operations\/)/, /^kysely$/, 'only stores make queries'],
    [
      /^(?!storage\/)/,
      /^(?:node:sqlite|pg|pg-connection-string|storage\/(?:sqlite|postgres)\/database\.ts)$/,
      'only storage knows the engines',
    ],
  ]
  for (const [from, to, rule] of forbidden) {
    test(rule, () => {
      const wrong = [...imports]
        .filter(([path]) => from.test(path))
        .flatMap(([path, targets]) =>
          targets.filter(target => to.test(target)).map(target => `${path} imports ${target}`),
        )
      assert.deepEqual(wrong, [])
    })
  }
})

/** All parts of a syntax tree, from the outside to the inside. */
function* nodesOf(node: unknown): Generator<Record<string, unknown>> {
  if (!hasMembers(node)) return
  yield node
  for (const child of Object.values(node)) yield* nodesOf(child)
}

/** The lines of a file that such parts of it begin in. */
function linesOf(path: string, isWanted: (node: Record<string, unknown>) => boolean): number[] {
  const text = read(path)
  const wanted = [...nodesOf(parseSync(path, text).program)].filter(isWanted)
  return wanted.map(({ start }) => text.slice(0, Number(start)).split('\n').length)
}

/** The lines of a file with a cast (`as X`; `as const` is none) that no comment before it explains. */
function unexplainedCasts(path: string): string[] {
  const text = read(path)
  const lines = text.split('\n')
  const isConst = (node: Record<string, unknown>) =>
    /\bas const$/.test(text.slice(Number(node.start), Number(node.end)))
  return linesOf(
    path,
    node => (node.type === 'TSAsExpression' || node.type === 'TSTypeAssertion') && !isConst(node),
  )
    .filter(line => !lines[line - 2]?.trim().startsWith('// Cast: '))
    .map(line => `${path}:${line}`)
}

test('no literal has a getter, which would keep what it sees in memory for long', () => {
  const getters = files.flatMap(file => {
    const path = `src/${file}`
    return linesOf(path, ({ type, kind }) => type === 'Property' && kind === 'get').map(
      line => `${path}:${line}`,
    )
  })
  assert.deepEqual(getters, [])
})

test('nothing is cast outside of records/, but where a comment says why (`// Cast: …`)', () => {
  const sources = files.filter(path => !path.startsWith('records/')).map(path => `src/${path}`)
  assert.deepEqual([...sources, ...pages].flatMap(unexplainedCasts), [])
})

/** The files of tests that patterns reach. */
const testsIn = (patterns: readonly string[]) => globSync(patterns, { cwd: root })

test('npm test takes every file of tests: by the patterns of its script, or by an index in test/all', () => {
  const { test: script } = JSON.parse(read('package.json')).scripts
  const taken = testsIn(Array.from(script.matchAll(/'([^']+\.test\.ts)'/g), ([, pattern]) => pattern))
  const indexed = taken
    .filter(path => dirname(path) === 'test/all')
    .flatMap(path => Array.from(read(path).matchAll(/[(,] ?'([^']+)'/g), ([, folder]) => folder!))
  const reached = new Set([...taken, ...testsIn(indexed.map(folder => `${folder}/**/*.test.ts`))])
  assert.deepEqual(
    testsIn(['{src,test,web,bench}/**/*.test.ts']).filter(path => !reached.has(path)),
    [],
  )
})

test('files are at most 400 lines long', () => {
  const long = files.filter(path => readFileSync(join(source, path), 'utf8').split('\n').length > 400)
  assert.deepEqual(long, [])
})

test('functions of the administration area are at most 60 lines long', () => {
  assert.deepEqual(pages.flatMap(longFunctions), [])
})

const generatedPages = Object.entries(await generated())

describe('documentation', () => {
  for (const [name, content] of generatedPages) {
    test(`docs/${name} is what the code says (npm run docs)`, () => {
      assert.ok(read(`docs/${name}`) === content, `docs/${name} is out of date: run npm run docs`)
    })
  }

  test('the README lists every setting with its variable and default', () => {
    const readme = read('README.md')
    for (const option of serveOptions()) {
      const row = readme.split('\n').find(line => line.startsWith(`| \`${option.long}\``))
      assert.ok(row, `${option.long} is not in the README`)
      if (option.envVar) assert.ok(row.includes(`\`${option.envVar}\``), row)
    }
  })

  test('the README lists every command', () => {
    const leavesOf = (command: Command, names: readonly string[] = []): string[] =>
      command.commands.length === 0
        ? [names.join(' ')]
        : command.commands.flatMap(child => leavesOf(child, [...names, child.name()]))
    const readme = read('README.md')
    assert.deepEqual(
      leavesOf(commandsOn(process)).filter(name => !new RegExp(`\`(affiliated )?${name}[ \`]`).test(readme)),
      [],
    )
  })

  test('the architecture names each folder of src', () => {
    const map = read('docs/architecture.md')
    assert.deepEqual(
      globSync('*/*/', { cwd: source }).filter(folder => !map.includes(`\`${basename(folder)}/\``)),
      [],
      'say in docs/architecture.md what these are for',
    )
  })

  test('the architecture links to each decision, and sources to those that there are', () => {
    const decisions = readdirSync(join(root, 'docs/decisions'))
    const map = read('docs/architecture.md')
    assert.deepEqual(
      decisions.filter(name => !map.includes(`(decisions/${name})`)),
      [],
    )
    const dead = files.flatMap(path =>
      [...read(`src/${path}`).matchAll(/docs\/decisions\/([\w-]+\.md)/g)]
        .filter(([, name]) => !decisions.includes(name!))
        .map(([link]) => `${path}: ${link}`),
    )
    assert.deepEqual(dead, [])
  })

  test('links within the documentation lead somewhere', () => {
    const pages = [
      'README.md',
      'CONTRIBUTING.md',
      ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
        .filter(name => name.endsWith('.md'))
        .map(name => `docs/${name}`),
    ]
    for (const page of pages) {
      for (const [, target] of read(page).matchAll(/\]\((?!https?:|#)([^)#]+)/g)) {
        assert.doesNotThrow(
          () => readFileSync(join(root, dirname(page), target!)),
          `${page} links to ${target}`,
        )
      }
    }
  })
})
