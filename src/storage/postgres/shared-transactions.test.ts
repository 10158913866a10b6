/** Which transactions share one, and what happens when it fails; what PostgreSQL makes of it is in test/service/trips.test.ts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import { DatabaseUnavailable, type Reason, type Tx } from '../database.ts'
import { SharedTransactions } from './shared-transactions.ts'

/** Transactions that end when they are told to; each is listed with the names of its members. */
function recorded() {
  const begun: { names: string[]; commit: () => void; fail: (error: Error) => void }[] = []
  let names: string[] = []
  const attempt = async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
    names = []
    const ended = Promise.withResolvers<void>()
    // Cast: the members below do nothing with it.
    const result = work({} as Tx)
    result.catch(() => {})
    begun.push({ names, commit: ended.resolve, fail: ended.reject })
    await ended.promise
    return result
  }
  const shared = new SharedTransactions(attempt, attempt)
  const run = (caller: string, name: string, result: () => string = () => `${name} done`) =>
    shared.run(caller, async () => {
      names.push(name)
      return result()
    })
  const members = () => begun.map(({ names }) => names)
  return { begun, run, members }
}

const numbered = (count: number) => Array.from({ length: count }, (_, number) => `${number}`)

test('two run by themselves, and up to 32 of those that wait run as one', async () => {
  const { begun, run, members } = recorded()
  const all = numbered(36).map(name => run('caller', name))
  assert.deepEqual(members(), [['0'], ['1']])
  begun[0]!.commit()
  await turn()
  assert.deepEqual(members().slice(2), [numbered(34).slice(2)])
  begun[1]!.commit()
  await turn()
  assert.deepEqual(members().slice(3), [['34', '35']])
  for (const { commit } of begun) commit()
  assert.deepEqual(
    await Promise.all(all),
    numbered(36).map(name => `${name} done`),
  )
})

test('those of another caller neither wait nor share', async () => {
  const { begun, run, members } = recorded()
  const all = [...numbered(4).map(name => run('one', name)), run('other', 'other')]
  assert.deepEqual(members(), [['0'], ['1'], ['other']])
  begun[0]!.commit()
  await turn()
  assert.deepEqual(members().slice(3), [['2', '3']])
  for (const { commit } of begun) commit()
  await Promise.all(all)
})

test('if one fails, each runs again by itself, and so do those that come next', async () => {
  const { begun, run, members } = recorded()
  const refuse = () => {
    throw new Error('refused')
  }
  const first = [run('caller', '0'), run('caller', '1')]
  const shared = [run('caller', 'good'), run('caller', 'bad', refuse), run('caller', 'fine')]
  const outcomes = Promise.allSettled(shared)
  for (const { commit } of begun) commit()
  await turn()
  begun[2]!.commit()
  await turn()
  assert.deepEqual(members().slice(2), [['good', 'bad', 'fine'], ['good'], ['bad'], ['fine']])
  for (const { commit } of begun) commit()
  assert.deepEqual(
    (await outcomes).map(one => (one.status === 'fulfilled' ? one.value : one.reason.message)),
    ['good done', 'refused', 'fine done'],
  )
  const next = numbered(5).map(name => run('caller', name))
  assert.deepEqual(
    members().slice(6),
    numbered(5).map(name => [name]),
  )
  for (const { commit } of begun) commit()
  await Promise.all([...first, ...next])
})

const reasons: Reason[] = ['in doubt', 'no answer', 'busy', 'full']
for (const reason of reasons) {
  const isTold = reason === 'in doubt'
  test(`when it fails with '${reason}', all are ${isTold ? 'told' : 'run again'}`, async () => {
    const { begun, run, members } = recorded()
    const first = [run('caller', '0'), run('caller', '1')]
    const outcomes = Promise.allSettled([run('caller', '2'), run('caller', '3')])
    for (const { commit } of begun) commit()
    await turn()
    begun[2]!.fail(new DatabaseUnavailable('failed', undefined, reason))
    await turn()
    assert.deepEqual(members().slice(3), isTold ? [] : [['2'], ['3']])
    for (const { commit } of begun) commit()
    const status = isTold ? 'rejected' : 'fulfilled'
    assert.deepEqual(
      (await outcomes).map(one => one.status),
      [status, status],
    )
    await Promise.all(first)
  })
}

test('when it gets no connection, all are told, and none waits for another one', async () => {
  let attempts = 0
  const refused = async () => {
    attempts += 1
    throw new DatabaseUnavailable('all connections are busy')
  }
  const shared = new SharedTransactions(refused, refused)
  const outcomes = await Promise.allSettled(numbered(10).map(name => shared.run('caller', async () => name)))
  for (const { status } of outcomes) assert.equal(status, 'rejected')
  // The first two by themselves, and the others together.
  assert.equal(attempts, 3)
})

test('those that wait for others who take long begin nevertheless', async () => {
  const { begun, run, members } = recorded()
  const all = numbered(5).map(name => run('caller', name))
  while (begun.length < 3) await delay(10)
  assert.deepEqual(members(), [['0'], ['1'], ['2', '3', '4']])
  for (const { commit } of begun) commit()
  await Promise.all(all)
})
