/** Clients that never finish their request: the service goes on for others, and lets them go. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { serveProcess, temporaryFolder } from './harness.ts'
import { until } from './load.ts'

const SLOW = process.env.LONG ? 10_000 : 500
const HEADERS_TIMEOUT_MS = 10_000
const CHECKED_EVERY_MS = 2_000

test(`${SLOW} connections that send nothing, half a header, or half a body`, async t => {
  const folder = await temporaryFolder()
  const service = await serveProcess([
    '--demo',
    '--log-level',
    'fatal',
    '--database',
    `sqlite:${folder.path}/s.db`,
  ])
  const slow: Socket[] = []
  t.after(async () => {
    for (const socket of slow) socket.destroy()
    await service.stop('SIGKILL')
    await folder.remove()
  })
  const { url, token } = service.announced
  const { port } = new URL(url)
  const authorization = `Authorization: Bearer ${token}`
  const beginnings = [
    '',
    `POST /v1/affiliates HTTP/1.1\r\nHost: x\r\n${authorization}\r\nX-Slow: `,
    `POST /v1/affiliates HTTP/1.1\r\nHost: x\r\n${authorization}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"a":`,
  ]
  const closed = [0, 0, 0]
  for (let number = 0; number < SLOW; number += 1) {
    const kind = number % 3
    const socket = connect(Number(port), '127.0.0.1').resume()
    socket.on('error', () => {})
    socket.on('close', () => {
      closed[kind]! += 1
    })
    socket.write(beginnings[kind]!)
    slow.push(socket)
    if (number % 200 === 199) await once(socket, 'connect')
  }
  // Drips, so that no connection looks idle.
  const drip = setInterval(() => {
    for (const [number, socket] of slow.entries()) if (number % 3 > 0 && socket.writable) socket.write(' ')
  }, 1000)
  t.after(() => clearInterval(drip))

  let slowestMs = 0
  const began = Date.now()
  while (Date.now() - began < 3000) {
    const at = performance.now()
    const { status } = await fetch(`${url}/v1/affiliates?number=5`, {
      headers: { authorization: `Bearer ${token}`, connection: 'close' },
    })
    assert.equal(status, 200)
    slowestMs = Math.max(slowestMs, performance.now() - at)
    await delay(20)
  }
  t.diagnostic(`the slowest of the others' requests took ${slowestMs.toFixed(0)} ms`)
  assert.ok(slowestMs < 1000, `${slowestMs} ms`)
  const third = Math.floor(SLOW / 3)
  const patience = HEADERS_TIMEOUT_MS + 2 * CHECKED_EVERY_MS + 2000
  await until(() => closed[0]! >= third && closed[1]! >= third, patience)
  if (process.env.LONG) await until(() => closed[2]! >= third)
})
