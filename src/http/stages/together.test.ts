import assert from 'node:assert/strict'
import { test } from 'node:test'
import Fastify from 'fastify'
import { together } from './together.ts'

test('an answer that cannot be sent ends its own connection only', async t => {
  const app = Fastify()
  t.after(() => app.close())
  app.addHook('onSend', together)
  app.get('/wrong', (_request, reply) => reply.header('X-Wrong', 'two\nlines').send('wrong'))
  app.get('/right', (_request, reply) => reply.send('right'))
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  const [wrong, right] = await Promise.allSettled(['/wrong', '/right'].map(path => fetch(address + path)))
  assert.equal(wrong?.status, 'rejected')
  assert.ok(right?.status === 'fulfilled')
  assert.equal(await right.value.text(), 'right')
})
