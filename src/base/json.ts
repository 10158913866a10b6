/** JSON that is written while it is read, so that a long list needs no more memory than a short one. */

/** A list, page by page. */
type Pages = AsyncIterable<readonly object[]>

/** A line with a JSON object, in parts. @param members by name; pages become one list */
export async function* jsonLine(
  members: Readonly<Record<string, Pages | object | null>>,
): AsyncGenerator<string> {
  let before = '{'
  for (const [name, value] of Object.entries(members)) {
    yield `${before}${JSON.stringify(name)}:`
    if (isPages(value)) yield* listText(value)
    else yield JSON.stringify(value)
    before = ','
  }
  yield before === '{' ? '{}\n' : '}\n'
}

const isPages = (value: Pages | object | null): value is Pages =>
  value !== null && Symbol.asyncIterator in value

async function* listText(pages: Pages): AsyncGenerator<string> {
  let before = '['
  for await (const page of pages) {
    if (page.length === 0) continue
    yield before + page.map(member => JSON.stringify(member)).join(',')
    before = ','
  }
  yield before === '[' ? '[]' : ']'
}
