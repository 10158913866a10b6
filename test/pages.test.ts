/** The administration area has pages of every kind of record, or says that it has none. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { reportRows } from '../src/admin/reports/schema.ts'
import { features } from '../src/app.ts'
import type { Field } from '../src/records/field.ts'
import { settingsChanges } from '../src/settings/schema.ts'

// By a path that the compiler does not follow: the pages are compiled for browsers.
const registry = new URL('../web/src/pages.ts', import.meta.url).href
const { recordPages, otherPages, withoutPages } = await import(registry)

const kinds = features.map(({ kind }) => kind.name)

test('every kind of record has pages, or is named as one without', () => {
  const named: string[] = [...recordPages.map(({ kind }: { kind: string }) => kind), ...withoutPages]
  assert.deepEqual(
    kinds.filter(kind => !named.includes(kind)),
    [],
    'add their pages to `recordPages` of web/src/pages.ts, or their names to `withoutPages`',
  )
  assert.deepEqual([...new Set(named)].toSorted(), named.toSorted(), 'a kind with pages is none without')
  assert.deepEqual(
    withoutPages.filter((kind: string) => !kinds.includes(kind)),
    [],
  )
})

test('pages ask for records by the names that the interface has', () => {
  for (const { kind: name, resource } of recordPages) {
    const served = features.find(feature => feature.kind.name === name)?.resource
    // Accounts are no kind: they are of the area alone.
    if (name !== 'user') assert.equal(served?.name, resource)
  }
  const addresses = [
    ...recordPages.map(({ resource }: { resource: string }) => `/${resource}`),
    ...otherPages.map(({ path }: { path: string }) => path),
  ]
  assert.deepEqual(addresses, [...new Set(addresses)])
})

const textOf = (folder: string) => {
  const url = new URL(`../web/src/${folder}/`, import.meta.url)
  return readdirSync(url)
    .map(name => readFileSync(new URL(name, url), 'utf8'))
    .join()
}

test('each column of a report is shown, and is in its documentation', () => {
  const page = textOf('reports')
  const columns = Object.values(reportRows).flatMap(({ properties }) => Object.keys(properties))
  assert.deepEqual(
    columns.filter(name => !new RegExp(`\\b${name}\\b`).test(page)),
    [],
  )
  const documentation = readFileSync(new URL('../docs/reports.md', import.meta.url), 'utf8').split('\n')
  const missing = Object.entries(reportRows)
    .map(([name, { properties }]) => {
      const names = Object.keys(properties).map(column => `\`${column}\``)
      return `| \`${name}\` | ${names.join(', ')} |`
    })
    .filter(row => !documentation.includes(row))
  assert.deepEqual(missing, [])
})

test('each setting has a field in the form', () => {
  const form = textOf('settings')
  assert.deepEqual(
    Object.keys(settingsChanges.properties).filter(name => !form.includes(` source="${name}"`)),
    [],
  )
})

test('the history shows every amount as money', async () => {
  const { amounts } = await import(new URL('../web/src/tools/values.ts', import.meta.url).href)
  const logged = features.flatMap(({ kind: { table } }) => {
    const columns: Readonly<Record<string, { readonly money: unknown }>> = table.columns
    return table.logged.plain.filter(name => columns[name]?.money)
  })
  assert.deepEqual(
    [...amounts].toSorted(),
    [...new Set(logged)].toSorted(),
    '`amounts` of web/src/tools/values.ts has to be these',
  )
})

test('the history shows every time and every day as one', async () => {
  const { times } = await import(new URL('../web/src/tools/values.ts', import.meta.url).href)
  const isTime = ({ type, money, show }: Field) =>
    type === 'integer' &&
    !money &&
    /^2023-11-14( 22:13:20)?$/.test(String(show(1_700_000_000 as never, {} as never)))
  const logged = features.flatMap(({ kind }) =>
    Object.entries<Field>(kind.fields).flatMap(([name, field]) => (isTime(field) ? [name] : [])),
  )
  assert.ok(logged.length > 10, `${logged}`)
  assert.deepEqual(
    logged.filter(name => !times.test(name)),
    [],
    'add these to `times` of web/src/tools/values.ts',
  )
})
