import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '../base/errors.ts'
import { DatabaseUnavailable } from '../storage/database.ts'
import { faultOf } from './problems.ts'

test('the log names what went wrong in the service, and nothing that callers make by themselves', () => {
  const defect = new TypeError('of the program')
  assert.equal(faultOf(defect), defect)
  const away = new DatabaseUnavailable('away')
  assert.equal(faultOf(away), away)
  assert.equal(faultOf(new Failure('took_too_long', { cause: away })), away)
  const hungUp = new DatabaseUnavailable('hung up', undefined, 'not wanted')
  const callers = [hungUp, new Failure('overloaded'), new Failure('no_route', { cause: defect })]
  for (const error of callers) assert.equal(faultOf(error), undefined)
})
