import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseExactly } from './json.ts'

describe('JSON with all digits', () => {
  test('each number is written again as it was', () => {
    for (const text of [
      '{"a":1234567890123456789,"b":[-0.12345678901234567890,{"c":12345678901234567890.5e3}]}',
      '[1,2.5,-3,0,1e-7,"1234567890123456789","\\"12345678901234567890\\\\",true,null]',
      '1234567890123456789',
      '{"1234567890123456789":1,"__proto__":{"a":9007199254740993}}',
    ])
      assert.equal(JSON.stringify(parseExactly(text)), text)
    assert.deepEqual(parseExactly('[1e-1234567890123456, 1234567890123456]'), [0, 1234567890123456])
  })

  test('what is no JSON is refused at once, however long it is', () => {
    for (const text of [
      `{"a":1234567890123456789,"b":"${'\\"'.repeat(500_000)}`,
      `{"a":1234567890123456789,"b":${'"'.repeat(1_000_001)}`,
      `[1234567890123456789${'"'.repeat(1_000_000)}`,
    ])
      assert.throws(() => parseExactly(text), SyntaxError)
  })

  test('a text of any length stands beside a long number', () => {
    const long = '\n"\\'.repeat(2_000_000)
    const text = JSON.stringify({ long, number: 1 }).replace(':1}', ':1234567890123456789}')
    assert.equal(JSON.stringify(parseExactly(text)), text)
  })
})
