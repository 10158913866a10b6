import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_SECONDS } from '../../base/time.ts'
import { CampaignNames } from './campaign-names.ts'

test('names of campaigns: a thousand of an affiliate, fifty thousand of all, anew each day', () => {
  const names = new CampaignNames()
  const counted = (affiliate: number, from: number, to: number, day = 0) =>
    Array.from({ length: to - from }, (_, index) =>
      names.counted(affiliate, `c${from + index}`, day * DAY_SECONDS),
    ).filter(name => name !== '').length
  assert.equal(counted(1, 0, 1500), 1000)
  assert.equal(names.counted(1, 'c7', 0), 'c7')
  assert.equal(names.counted(1, 'c1200', 0), '')
  assert.equal(names.counted(2, 'c1200', 0), 'c1200')
  for (let affiliate = 2; affiliate <= 50; affiliate += 1) counted(affiliate, 0, 1000)
  assert.equal(counted(51, 0, 10), 0)
  assert.equal(names.counted(2, 'c1200', 0), 'c1200')
  assert.equal(counted(51, 0, 10, 1), 10)
})
