import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFailure, describeService } from '../../../test/harness.ts'

describeService('creatives', service => {
  test('201 - with nothing, as the defaults are', async () => {
    const { status, body } = await service().post('/creatives', {})
    assert.equal(status, 201)
    const { creative_id, date, ...rest } = body
    assert.deepEqual(rest, {
      name: 'Creative',
      description: '',
      url: '',
      text: '',
      image: '',
      status: 'active',
      id: creative_id,
    })
    assert.deepEqual(Object.keys(body).slice(-3), ['status', 'date', 'id'])
  })

  test('an edit of the status alone leaves the texts', async () => {
    const sent = {
      name: 'Banner',
      description: 'For <b>spring</b>',
      url: 'https://shop.test/',
      text: 'Come in',
      image: 'https://shop.test/a.png',
      date: '2026-01-02 03:04:05',
    }
    const { body: made } = await service().post('/creatives', sent)
    const { status, body } = await service().patch(`/creatives/${made.id}?status=inactive`)
    assert.equal(status, 200)
    assert.deepEqual(body, { creative_id: made.id, ...sent, status: 'inactive', id: made.id })
    const { body: active } = await service().get('/creatives?status=active&search=bann&fields=ids')
    assert.deepEqual(active, [])
    const { body: inactive } = await service().get('/creatives?status=inactive&search=bann&fields=ids')
    assert.deepEqual(inactive, [made.id])
    assert.equal((await service().delete(`/creatives/${made.id}`)).status, 200)
    assertFailure(await service().get(`/creatives/${made.id}`), 404, 'invalid_creative_id')
  })

  test('400 - an address that a page must not link to', async () => {
    const { body } = await service().post('/creatives', {
      url: 'javascript:alert(1)',
      image: 'data:text/html,x',
    })
    assert.deepEqual(Object.keys(body.data.params), ['url', 'image'])
  })
})
