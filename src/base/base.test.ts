import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { decimalText, formatRate, fromUnits, MAX_AMOUNT, parseRate, roundedTo, toUnits } from './money.ts'
import { isEmail } from './text.ts'
import { formatTime, parseMoment } from './time.ts'

describe('money', () => {
  const exact: [number, number, number][] = [
    [0, 2, 0],
    [0.1 + 0.2, 2, 30],
    [27.869999999999997, 2, 2787],
    [1.005, 3, 1005],
    [999_999_999_999.99, 2, 99_999_999_999_999],
    [999_999_999_999.99, 3, 999_999_999_999_990],
    [5, 0, 5],
    [1.1 * 3, 2, 330],
    [93.60000000000005, 2, 9360],
    [91.53999999999995, 2, 9154],
    [5.999999999999995, 2, 600],
    [19990.000000000135, 2, 1_999_000],
  ]
  for (const [value, decimals, units] of exact) {
    test(`${value} with ${decimals} decimals is ${units} units`, () => {
      assert.equal(toUnits(value, decimals), units)
    })
  }

  for (const [value, decimals] of [
    [27.875, 2],
    [0.001, 2],
    [999_999_999_999.991, 2],
    [0.5, 0],
    [10.0000001, 2],
    [1.0000000001, 2],
    [0.00000000000001, 2],
    [999_999_999_999.994, 2],
    [1.0005, 3],
  ] as const) {
    test(`${value} has more than ${decimals} decimals`, () =>
      assert.equal(toUnits(value, decimals), undefined))
  }

  test('every amount of every currency survives the way out and back', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(0, 2, 3),
        fc.nat(),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (decimals, small, part) => {
          for (const units of [small, Math.floor(part * MAX_AMOUNT * 10 ** decimals)]) {
            const shown = JSON.parse(JSON.stringify(fromUnits(units, decimals)))
            assert.equal(toUnits(shown, decimals), units)
            assert.equal(Number(decimalText(units, decimals)), shown)
          }
        },
      ),
      { numRuns: 2000 },
    )
  })

  test('what has more decimals is rounded half up', () => {
    for (const [value, decimals, rounded] of [
      [1.005, 2, 1.01],
      [1.0049999, 2, 1],
      [-1.005, 2, -1.01],
      [0.004, 2, 0],
      [-0.004, 2, 0],
      [0.0000001, 2, 0],
      [2.5, 0, 3],
      [1.0005, 3, 1.001],
      [27.869999999999997, 2, 27.869999999999997],
      [999_999_999_999.994, 2, 999_999_999_999.99],
      [1e15, 2, 1e15],
      [Number.POSITIVE_INFINITY, 2, Number.POSITIVE_INFINITY],
    ] as const) {
      assert.equal(roundedTo(value, decimals), rounded)
    }
    fc.assert(
      fc.property(
        fc.constantFrom(0, 2, 3),
        fc.double({ min: 0, max: 1e9, noNaN: true }),
        (decimals, value) => {
          const rounded = roundedTo(value, decimals)
          assert.notEqual(toUnits(rounded, decimals), undefined)
          assert.ok(Math.abs(rounded - value) <= 0.5000001 / 10 ** decimals)
        },
      ),
    )
  })

  test('as text it has all its decimals', () => {
    assert.equal(decimalText(2780, 2), '27.80')
    assert.equal(decimalText(5, 3), '0.005')
    assert.equal(decimalText(7, 0), '7')
    assert.equal(decimalText(-150, 2), '-1.50')
  })
})

test('rates are canonical text', () => {
  const cases: [number | '', string][] = [
    [20, '20'],
    [7.5, '7.5'],
    [0, '0'],
    [0.0001, '0.0001'],
    ['', ''],
  ]
  for (const [given, shown] of cases) assert.equal(formatRate(parseRate(given)), shown)
})

test('times are UTC', () => {
  assert.equal(formatTime(1_700_000_000), '2023-11-14 22:13:20')
})

test('a moment is a real day or a real second', () => {
  assert.deepEqual(parseMoment('2024-02-29'), { first: 1_709_164_800, last: 1_709_251_199 })
  assert.deepEqual(parseMoment('2024-02-29 00:00:01'), { first: 1_709_164_801, last: 1_709_164_801 })
  for (const same of [
    '2024-02-29T00:00:01Z',
    '2024-02-29T00:00:01.987Z',
    '2024-02-29T02:00:01+02:00',
    '2024-02-29T02:00:01 02:00',
    '2024-02-28T19:30:01-0430',
  ]) {
    assert.deepEqual(parseMoment(same), { first: 1_709_164_801, last: 1_709_164_801 }, same)
  }
  for (const wrong of [
    '9999-12-31T23:59:59-12:00',
    '0000-01-01T00:00:00+14:00',
    '2023-02-29',
    '2024-13-01',
    '2024-1-1',
    'today',
    '',
    '2024-01-01 25:00:00',
    '2024-02-30',
    '2024-02-29+02:00',
    '2024-02-29T00:00:01+24:00',
    '2024-02-29T00:00:01 2:00',
  ]) {
    assert.equal(parseMoment(wrong), undefined, wrong)
  }
})

test('e-mail addresses', () => {
  for (const right of ['a@b.co', "o'brien+tag@sub.example.com", 'jörg@müller.example', 'x_1-2.3@1.example']) {
    assert.ok(isEmail(right), right)
  }
  for (const wrong of [
    'plain',
    '@b.co',
    'a@',
    'a@b',
    'a b@c.de',
    'a@b..co',
    '.a@b.co',
    'a.@b.co',
    'a..b@c.de',
    'a@-b.de',
    'a@b.123',
    'a@b.co\n',
    '"a b"@c.de',
    '<a@b.co>',
    'a@b@c.de',
  ]) {
    assert.ok(!isEmail(wrong), wrong)
  }
})
