/** The promises that the house makes about itself: the import arrow, the rooms of a feature, and the generated pages. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { generated } from '../docs/generate.ts'
import { resources } from '../src/app.ts'
import { serveOptions } from '../src/config.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const source = join(root, 'src')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
  path => path.endsWith('.ts') && !path.endsWith('.test.ts'),
)

/** What a file imports: files relative to src, and packages by name. */
function importsOf(path: string): string[] {
  const text = readFileSync(join(source, path), 'utf8')
  return [...text.matchAll(/(?:from|import\() ?'([^']+)'/g)].map(([, target]) =>
    target!.startsWith('.') ? relative(source, resolve(source, dirname(path), target!)) : target!,
  )
}

describe('the import arrow: routes -> rules -> store -> storage', () => {
  const forbidden: [RegExp, RegExp, string][] = [
    [
      /schema\.ts$/,
      /^(?!typebox$|fields\.ts$|.*schema\.ts$)/,
      'a schema imports TypeBox, fields and schemas',
    ],
    [
      /rules\.ts$/,
      /^(?:fastify|kysely|commander|http\/|.*routes\.ts$|.*commands\.ts$)/,
      'rules know no HTTP, SQL or command line',
    ],
    [
      /store\.ts$/,
      /^(?:fastify|http\/|.*rules\.ts$|.*routes\.ts$|context\.ts$)/,
      'a store knows tables only',
    ],
    [/routes\.ts$/, /^(?:fastify|kysely|storage\/)/, 'routes hold no queries'],
    [
      /^storage\//,
      /^(?!storage\/|node:|kysely$|pg$|pg-connection-string$|fields\.ts$)/,
      'storage knows nothing above it',
    ],
    [
      /^(?!app\.ts|http\/|log\.ts|metrics\.ts|serve\.ts|admin\/)/,
      /^fastify$/,
      'only the HTTP side knows Fastify',
    ],
    [/^(?!.*store\.ts$|storage\/)/, /^kysely$/, 'only stores make queries'],
    [
      /^(?!storage\/)/,
      /^(?:node:sqlite|pg|pg-connection-string|.*storage\/(?:sqlite|postgres)\.ts)$/,
      'only storage knows the engines',
    ],
  ]
  for (const [from, to, rule] of forbidden) {
    test(rule, () => {
      const wrong = files
        .filter(path => from.test(path))
        .flatMap(path =>
          importsOf(path)
            .filter(target => to.test(target))
            .map(target => `${path} imports ${target}`),
        )
      assert.deepEqual(wrong, [])
    })
  }
})

test('a resource has its rooms', () => {
  for (const { name } of resources) {
    const rooms = readdirSync(join(source, name))
    for (const room of ['schema.ts', 'rules.ts', 'store.ts', 'routes.ts', `${name}.test.ts`]) {
      assert.ok(rooms.includes(room), `src/${name} has no ${room}`)
    }
  }
})

test('files are at most 400 lines long', () => {
  const long = files.filter(path => readFileSync(join(source, path), 'utf8').split('\n').length > 400)
  assert.deepEqual(long, [])
})

describe('documentation', () => {
  for (const [name, content] of Object.entries(generated())) {
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

  test('links within the documentation lead somewhere', () => {
    const pages = [
      'README.md',
      'CONTRIBUTING.md',
      ...readdirSync(join(root, 'docs'))
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
