import assert from 'node:assert/strict'
import { test } from 'node:test'
import { progressText } from './progress.ts'

test('progress tells how far it is, or only how many when nobody knows of how many', () => {
  for (const [done, total, expected] of [
    [17_200, Number.POSITIVE_INFINITY, '17,200, 5 s'],
    [50, 200, '25 %, 50 of 200, 15 s left'],
    [200, 200, '100 %, 200 of 200, 5 s'],
    [0, 0, '100 %, 0 of 0, 5 s'],
  ] as const) {
    assert.equal(progressText(done, total, 5000), expected)
  }
})
