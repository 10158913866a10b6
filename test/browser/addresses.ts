/** The address of every page, out of the registry of pages: of a kind of record, with the first one that there is. */
import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'

interface RecordPages {
  readonly resource: string
  readonly create?: unknown
  readonly edit?: unknown
  readonly show?: unknown
  readonly more?: Readonly<Record<string, unknown>>
}

interface OtherPage {
  readonly path: string
}

// By a path that the compiler does not follow: the pages are compiled for browsers.
const registry = new URL('../../web/src/pages.ts', import.meta.url).href
const { recordPages, otherPages }: { recordPages: RecordPages[]; otherPages: OtherPage[] } = await import(
  registry
)

/** Those of the list of each kind of record. */
export const lists = recordPages.map(({ resource }) => `/${resource}`)

/** What neither a kind of record nor the menu leads to. */
const others = ['/account', '/tools/api-keys', '/tools/audit-log', '/tools/export', '/tools/system']

/** @param page on which somebody has logged in */
export async function addresses(page: Page): Promise<string[]> {
  const ofRecords = await Promise.all(recordPages.map(pages => addressesOf(page, pages)))
  return [...otherPages.map(({ path }) => path), ...others, ...ofRecords.flat()]
}

async function addressesOf(page: Page, { resource, create, edit, show, more = {} }: RecordPages) {
  const paths = ['', ...(create ? ['create'] : []), ...(edit ? [':id'] : []), ...(show ? [':id/show'] : [])]
  const all = [...paths, ...Object.keys(more)].map(path => `/${resource}${path && `/${path}`}`)
  const answer = await page.request.get(`/admin/api/${resource}?number=1`)
  assert.equal(answer.status(), 200, resource)
  const [first] = (await answer.json()) as { id: number }[]
  // Of kinds that the demo has none of, what needs no record.
  return all.flatMap(path => (path.includes(':id') && !first ? [] : path.replace(':id', String(first?.id))))
}
