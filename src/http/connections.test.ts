import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import Fastify from 'fastify'
import { until } from '../../test/load.ts'
import { Connections } from './connections.ts'

test('a connection more than may be - those that were idle for a while make room, and nobody who waits for an answer', async t => {
  let time = 1000
  // A busy machine's own would let more of them be idle for long.
  t.mock.method(performance, 'now', () => time)
  const { connected, answered } = new Connections(4)
  const slow = Promise.withResolvers<string>()
  const app = Fastify({ forceCloseConnections: true })
  app.server.on('connection', connected)
  app.addHook('onResponse', answered)
  app.get('/', async () => 'at once')
  app.get('/slow', () => slow.promise)
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  const keeping = new Agent({ keepAlive: true })
  t.after(() => {
    keeping.destroy()
    return app.close()
  })
  const ask = async (path: string, agent: Agent | false): Promise<string> => {
    const [response]: IncomingMessage[] = await once(get({ port, path, agent }), 'response')
    return text(response!)
  }
  const areConnected = (expected: number) =>
    until(() => new Promise(resolve => app.server.getConnections((_, count) => resolve(count === expected))))

  const waiting = ask('/slow', keeping)
  const silent = connect(Number(port), '127.0.0.1')
  await Promise.all([ask('/', keeping), ask('/', keeping), once(silent, 'connect')])
  await areConnected(4)
  // None of them is idle for long.
  await assert.rejects(ask('/', false))
  time += 1100
  assert.equal(await ask('/', false), 'at once')
  await areConnected(1)
  await Promise.all(Array.from({ length: 3 }, () => ask('/', keeping)))
  await assert.rejects(ask('/', false))
  slow.resolve('at last')
  assert.equal(await waiting, 'at last')
})
