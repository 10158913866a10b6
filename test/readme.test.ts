/** The README's tour: every command is run, and what it prints is compared with what the README says. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { startService } from './harness.ts'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
const tour = [...readme.matchAll(/^\$ (curl .*)\n(.*)$/gm)].map(
  ([, command, output]) => [command!, output!] as const,
)

/** The request that a curl command would send. */
function requestOf(command: string): { method: string; path: string; body?: string; type?: string } {
  const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare!)
  const data: string[] = []
  let [method, url, type]: (string | undefined)[] = []
  for (let index = 1; index < words.length; index += 1) {
    const word = words[index]!
    if (word === '-u') index += 1
    else if (word === '-X') method = words[++index]
    else if (word === '-d') data.push(words[++index]!)
    else if (word === '-H') type = words[++index]!.split(': ')[1]
    else url = word
  }
  const { pathname, search } = new URL(url!)
  return {
    method: method ?? (data.length > 0 ? 'POST' : 'GET'),
    path: pathname.replace(/^\/v1/, '') + search,
    ...(data.length > 0 && { body: data.join('&'), type: type ?? 'application/x-www-form-urlencoded' }),
  }
}

const withoutDates = (text: string) => text.replace(/\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d)?/g, 'DATE')

test("the README's tour prints what the README says", async t => {
  const service = await startService()
  t.after(() => service.close())
  assert.ok(tour.length >= 8)
  for (const [command, output] of tour) {
    const { method, path, body, type } = requestOf(command)
    const reply = await service.send(method, path, {
      ...(body !== undefined && { body, headers: { 'content-type': type! } }),
    })
    const printed = withoutDates(JSON.stringify(reply.body))
    const cut = output.endsWith('…')
    const expected = withoutDates(cut ? output.slice(0, -1) : output)
    assert.equal(cut ? printed.slice(0, expected.length) : printed, expected, command)
  }
})
