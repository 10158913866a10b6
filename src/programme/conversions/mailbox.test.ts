import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mailboxOf } from './mailbox.ts'

test('addresses of one mailbox are the same, and others are not', () => {
  const one = [
    'ada.self@gmail.example',
    'Ada.Self+x@GMAİL.example',
    'ａda.self@gmail.example',
    'ada.ſelf+@gmail.example',
  ]
  assert.deepEqual([...new Set(one.map(mailboxOf))], ['ada.self@gmail.example'])
  assert.equal(mailboxOf('zoë@bücher.example'), mailboxOf('zoë@xn--bcher-kva.example'))
  const others = ['adaself@gmail.example', '+x@gmail.example', 'ada.self@gmail.test', 'ada', '']
  assert.equal(new Set([...one, ...others].map(mailboxOf)).size, others.length + 1)
})
