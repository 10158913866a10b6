/** What is done together, and what happens when it fails; what the engines make of it is in test/service/gathered.test.ts. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { Failure } from '../base/errors.ts'
import { DatabaseUnavailable, LostRace, type Reason, type Tx, UniqueViolation } from './database.ts'
import { Gatherings, type Guards } from './gatherings.ts'

interface Begun {
  readonly items: string[]
  commit(): void
  fail(error: Error): void
}

/** Transactions that end when they are told to; each is listed with its items. */
function recorded(t: TestContext, mostInProgress = 2) {
  // However long the machine takes, nobody has waited for long.
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const begun: Begun[] = []
  const begin = async <T>(items: string[], work: () => Promise<T>): Promise<T> => {
    const ended = Promise.withResolvers<void>()
    begun.push({ items, commit: ended.resolve, fail: ended.reject })
    const result = await work()
    await ended.promise
    return result
  }
  const gatherings = new Gatherings({
    engine: { mostInProgress, isLostRace: error => error instanceof LostRace },
    transaction: async work => {
      const items: string[] = []
      // Cast: the members below list their names in it, and do nothing else.
      return begin(items, () => work(items as unknown as Tx))
    },
  })
  const run = (caller: string, name: string, result = () => `${name} done`, guards: Guards = {}) =>
    gatherings.run(
      caller,
      {
        item: { name, result },
        one: () => begin([name], async () => result()),
        many: async (tx, all) => {
          // Cast: as above.
          const items = tx as unknown as string[]
          items.push(...all.map(one => one.name))
          return all.map(one => one.result())
        },
      },
      guards,
    )
  const items = () => begun.map(one => one.items)
  const commitAll = async () => {
    for (const { commit } of begun) commit()
    await settled()
  }
  return { begun, gatherings, run, items, commitAll }
}

/** What waits for the end of a turn, and what that begins. */
async function settled() {
  for (let turns = 0; turns < 3; turns += 1) await turn()
}

const numbered = (count: number) => Array.from({ length: count }, (_, number) => `${number}`)

test('one is done by itself, and up to 32 that arrive together are done together', async t => {
  const { run, items, commitAll } = recorded(t)
  const first = run('caller', 'first')
  await settled()
  const all = numbered(36).map(name => run('caller', name))
  await settled()
  assert.deepEqual(items(), [['first'], numbered(32)])
  await commitAll()
  assert.deepEqual(items().slice(2), [numbered(36).slice(32)])
  await commitAll()
  assert.equal(await first, 'first done')
  assert.deepEqual(
    await Promise.all(all),
    numbered(36).map(name => `${name} done`),
  )
})

test('while two are under way, others wait, and are then done together', async t => {
  const { begun, run, items, commitAll } = recorded(t)
  const all = []
  for (const name of numbered(5)) {
    all.push(run('caller', name))
    await settled()
  }
  assert.deepEqual(items(), [['0'], ['1']])
  begun[0]!.commit()
  await settled()
  assert.deepEqual(items().slice(2), [['2', '3', '4']])
  await commitAll()
  await Promise.all(all)
})

test('nobody waits where transactions run one after the other', async t => {
  const { run, items, commitAll } = recorded(t, Number.POSITIVE_INFINITY)
  const all = []
  for (const names of [['a'], ['b', 'c'], ['d'], ['e', 'f']]) {
    all.push(...names.map(name => run('caller', name)))
    await settled()
  }
  assert.deepEqual(items(), [['a'], ['b', 'c'], ['d'], ['e', 'f']])
  await commitAll()
  await Promise.all(all)
})

test('those of another caller neither wait nor are done together with them', async t => {
  const { run, items, commitAll } = recorded(t)
  const all = [run('one', 'a'), run('other', 'x'), run('one', 'b'), run('other', 'y')]
  await settled()
  assert.deepEqual(items(), [
    ['a', 'b'],
    ['x', 'y'],
  ])
  await commitAll()
  await Promise.all(all)
})

test('whoever cannot be done is told why, and the others are done', async t => {
  const { run, items, commitAll } = recorded(t)
  const refused = new Failure('no_affiliate')
  // Cast: in place of a result.
  const outcomes = Promise.allSettled([run('caller', 'good'), run('caller', 'bad', () => refused as never)])
  await settled()
  await commitAll()
  assert.deepEqual(items(), [['good', 'bad']])
  assert.deepEqual(await outcomes, [
    { status: 'fulfilled', value: 'good done' },
    { status: 'rejected', reason: refused },
  ])
})

const defect = () => {
  throw new Error('refused')
}

test('the last one does it for all, since it has read the settings last', async t => {
  const { gatherings, commitAll } = recorded(t)
  const all = numbered(3).map(item =>
    gatherings.run(
      'caller',
      { item, one: async () => 'alone', many: async (_tx, items) => items.map(() => `by ${item}`) },
      {},
    ),
  )
  await settled()
  await commitAll()
  assert.deepEqual(await Promise.all(all), ['by 2', 'by 2', 'by 2'])
})

test('if there is not one result for each, nobody gets that of another, and each is done by itself', async () => {
  let isRolledBack = false
  const gatherings = new Gatherings({
    engine: { mostInProgress: 2, isLostRace: () => false },
    transaction: async work => {
      try {
        // Cast: nothing is done with it.
        return await work({} as Tx)
      } catch (error) {
        isRolledBack = true
        throw error
      }
    },
  })
  const many = async () => ['first done']
  const all = ['first', 'second'].map(item =>
    gatherings.run('caller', { item, one: async () => `${item} alone`, many }, {}),
  )
  assert.deepEqual(await Promise.all(all), ['first alone', 'second alone'])
  assert.ok(isRolledBack)
})

test('if all fail, each is done by itself, and so are those that come next', async t => {
  const { run, items, commitAll } = recorded(t)
  const all = [run('caller', 'good'), run('caller', 'bad', defect), run('caller', 'fine')]
  const outcomes = Promise.allSettled(all)
  await settled()
  assert.deepEqual(items(), [['good', 'bad', 'fine'], ['good'], ['bad'], ['fine']])
  await commitAll()
  assert.deepEqual(
    (await outcomes).map(one => (one.status === 'fulfilled' ? one.value : one.reason.message)),
    ['good done', 'refused', 'fine done'],
  )
  const next = numbered(5).map(name => run('caller', name))
  await settled()
  assert.deepEqual(
    items().slice(4),
    numbered(5).map(name => [name]),
  )
  await commitAll()
  await Promise.all(next)
})

test('after a failure - they are done together again after ten times as long, after a defect or a long wait after a second', async t => {
  let elapsed = 0
  t.mock.method(performance, 'now', () => elapsed)
  for (const [fault, tookMs, aloneMs] of [
    [new Failure('no_affiliate'), 40, 400],
    [new Failure('no_affiliate'), 4000, 1000],
    [new Error('a defect'), 40, 1000],
  ] as const) {
    const { begun, run, items, commitAll } = recorded(t)
    const outcomes = Promise.allSettled(['a', 'b'].map(name => run('caller', name)))
    await settled()
    elapsed += tookMs
    begun[0]!.fail(fault)
    await settled()
    const next = async (names: readonly string[]) => {
      const all = names.map(name => run('caller', name))
      await settled()
      await commitAll()
      await Promise.all(all)
      return items().slice(-2)
    }
    t.mock.timers.tick(aloneMs - 1)
    assert.deepEqual(await next(['c', 'd']), [['c'], ['d']])
    t.mock.timers.tick(1)
    assert.deepEqual(await next(['e', 'f']), [['d'], ['e', 'f']])
    await outcomes
    t.mock.timers.reset()
  }
})

const faults: readonly [Error, isDefect: boolean][] = [
  [new TypeError('a defect'), true],
  [new UniqueViolation('affiliates.user_id', undefined), true],
  [new Failure('no_affiliate'), false],
  [new DatabaseUnavailable('locked for too long', undefined, 'busy'), false],
  [new LostRace(), false],
]
for (const [fault, isDefect] of faults) {
  test(`${fault.name}: that each is done by itself is ${isDefect ? 'reported once' : 'no defect'}`, async t => {
    const { run, commitAll } = recorded(t)
    const reported: unknown[] = []
    const guards = { reportDefect: (error: unknown) => reported.push(error) }
    const failing = () => {
      throw fault
    }
    const outcomes = Promise.allSettled(['a', 'b'].map(name => run('caller', name, failing, guards)))
    await settled()
    await commitAll()
    await outcomes
    assert.deepEqual(reported, isDefect ? [fault] : [])
  })
}

for (const which of ['before', 'after'] as const) {
  test(`the guard of each is asked ${which} all are done; if one refuses, each is done by itself`, async t => {
    const { run, items, commitAll } = recorded(t)
    const asked: string[] = []
    const guards = (name: string): Guards => ({
      [which]: async () => {
        asked.push(name)
        if (name === 'b') throw new Error('ended')
      },
    })
    const all = ['a', 'b', 'c'].map(name => run('caller', name, undefined, guards(name)))
    await settled()
    assert.deepEqual(asked, ['a', 'b'])
    assert.deepEqual(items().slice(1), [['a'], ['b'], ['c']])
    await commitAll()
    await Promise.all(all)
  })
}

const reasons: Reason[] = ['in doubt', 'no answer', 'busy', 'full']
for (const reason of reasons) {
  const isTold = reason === 'in doubt'
  test(`when it fails with '${reason}', all are ${isTold ? 'told' : 'done by themselves'}`, async t => {
    const { begun, run, items, commitAll } = recorded(t)
    const outcomes = Promise.allSettled([run('caller', '0'), run('caller', '1')])
    await settled()
    begun[0]!.fail(new DatabaseUnavailable('failed', undefined, reason))
    await settled()
    assert.deepEqual(items().slice(1), isTold ? [] : [['0'], ['1']])
    await commitAll()
    const status = isTold ? 'rejected' : 'fulfilled'
    assert.deepEqual(
      (await outcomes).map(one => one.status),
      [status, status],
    )
  })
}

test('when it gets no connection, all are told, and none waits for another one', async () => {
  let attempts = 0
  const refused = async () => {
    attempts += 1
    throw new DatabaseUnavailable('all connections are busy')
  }
  const gatherings = new Gatherings({
    engine: { mostInProgress: 2, isLostRace: () => false },
    transaction: refused,
  })
  const all = numbered(10).map(item => gatherings.run('caller', { item, one: refused, many: refused }, {}))
  for (const { status } of await Promise.allSettled(all)) assert.equal(status, 'rejected')
  assert.equal(attempts, 1)
})

test('those that wait for others who take long begin nevertheless', async t => {
  const { run, items, commitAll } = recorded(t)
  const all = []
  for (const name of numbered(5)) {
    all.push(run('caller', name))
    await settled()
  }
  assert.deepEqual(items(), [['0'], ['1']])
  t.mock.timers.tick(100)
  await settled()
  assert.deepEqual(items(), [['0'], ['1'], ['2', '3', '4']])
  await commitAll()
  await Promise.all(all)
})
