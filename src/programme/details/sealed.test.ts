/** Payment details that cannot be opened: one payee never keeps the others from being paid. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import { describeService, giveSecretKey, operatorOf } from '../../../test/harness.ts'
import { addSepaPayees, sepaDetails } from '../../../test/sepa-payees.ts'
import { sealedFactor } from '../../accounts/second-factor/codes.ts'
import { features } from '../../app.ts'
import { Failure } from '../../base/errors.ts'
import { checkDatabase } from '../../operations/check/rules.ts'
import { keepSecretKeyIn } from '../../storage/secret-keys.ts'
import { rotate } from './rules.ts'

const newKey = () => randomBytes(32).toString('base64')

function useKeys(...keys: string[]): void {
  process.env.SECRET_KEY = keys.join(',')
  keepSecretKeyIn(undefined)
}

describeService('payment details that cannot be opened', service => {
  giveSecretKey()

  const problems = async () => (await checkDatabase(service().database, features)).problems
  const sealedOf = async (id: number) => {
    const { reader } = service().database
    const rows = await reader
      .selectFrom('payment_details')
      .select(['id', 'sealed'])
      .where('affiliate_id', '=', id)
      .execute()
    return rows.at(-1)!
  }
  const putSealed = (id: number, sealed: string) =>
    service().database.transaction(async tx => {
      await sql`UPDATE payment_details SET sealed = ${sealed} WHERE id = ${id}`.execute(tx)
    })
  async function approved(...names: string[]) {
    const people = (await addSepaPayees(service(), names)).map(({ id }) => id)
    const { body: run } = await service().post('/payout-runs', { method: 'sepa' })
    assert.equal(
      (await service().post(`/payout-runs/${run.id}/approve`, { hash: run.hash })).body.status,
      'approved',
    )
    return { people, path: `/payout-runs/${run.id}` }
  }

  test('altered ones are named by the file, by check and by a rotation, which does all others', async () => {
    const { people, path } = await approved('sound', 'altered')
    const { id, sealed } = await sealedOf(people[1]!)
    await putSealed(id, `${sealed.slice(0, -4)}AAAA`)
    const file = await service().get(`${path}/files/sepa`)
    assert.equal(file.status, 409, JSON.stringify(file.body))
    assert.match(file.body.message, new RegExp(`payment details of affiliate ${people[1]} cannot be opened`))
    assert.match((await problems()).join('\n'), new RegExp(`payment_details ${id}: .* cannot be opened`))

    const old = process.env.SECRET_KEY!
    const current = newKey()
    useKeys(current, old)
    const named = (error: unknown) =>
      error instanceof Failure && new RegExp(`payment_details ${id}: .* altered`).test(error.message)
    await assert.rejects(rotate(operatorOf(service().database)), named)
    useKeys(current)
    assert.notEqual((await sealedOf(people[0]!)).sealed.slice(0, 8), sealed.slice(0, 8))
    useKeys(current, old)
    await putSealed(id, sealed)
    assert.equal(await rotate(operatorOf(service().database)), 1)
    useKeys(current)
    assert.equal((await service().get(`${path}/files/sepa`)).status, 200)
    assert.deepEqual(await problems(), [])
    const genuine = (await sealedOf(people[1]!)).sealed
    // Those of another time are as genuine, and may look the same: another account of the same affiliate ends alike.
    const other = await service().post('/payment-details', { affiliate_id: people[1], ...sepaDetails })
    assert.equal(other.status, 201)
    await putSealed(id, (await sealedOf(people[1]!)).sealed)
    assert.match((await problems()).join('\n'), new RegExp(`payment_details ${id}: .* cannot be opened`))
    assert.equal((await service().get(`${path}/files/sepa`)).status, 409)
    await putSealed(id, genuine)
    assert.equal((await service().get(`${path}/files/sepa`)).status, 200)
  })

  test('those of a lost key are in no file, and pay nobody by another way', async () => {
    const [first, second] = [process.env.SECRET_KEY!, newKey()]
    const { people, path } = await approved('lost', 'kept')
    const { id, sealed } = await sealedOf(people[0]!)
    useKeys(second, first)
    await rotate(operatorOf(service().database))
    // Of the second payee alone the key that is left has sealed the details.
    await putSealed(id, sealed)
    useKeys(second, `lost:${sealed.slice(0, 8)}`)

    const file = await service().get<string>(`${path}/files/sepa`)
    assert.equal(file.status, 200, JSON.stringify(file.body))
    assert.match(file.body, /<NbOfTxs>1<\/NbOfTxs><CtrlSum>10\.00<\/CtrlSum>/)
    const { body: files } = await service().get(`${path}/files`)
    assert.deepEqual([files[0].payees, files[0].erased], [1, 1])
    const { body: of } = await service().get(`${path}/items?affiliate_id=${people[0]}`)
    assert.match(of[0].note, /^The key that had sealed the payment details is lost: .* Record it as failed/)
    assert.equal((await service().post(`/run-items/${of[0].id}`, { status: 'failed' })).body.status, 'failed')

    const { body: next } = await service().post('/payout-runs', { method: 'sepa' })
    const { body: items } = await service().get(`/payout-runs/${next.id}/items?affiliate_id=${people[0]}`)
    assert.deepEqual(
      items.map((one: any) => [one.status, one.reason, one.amount]),
      [['excluded', 'no_payment_details', 10]],
    )
    assert.deepEqual(await problems(), [])

    // As after a backup from before a change of the key is restored, and as where a copy is checked that has none.
    useKeys(second)
    const name = sealed.slice(0, 8)
    assert.match(
      (await problems()).join(),
      new RegExp(
        `^What is stored was sealed by the secret key ${name}, which is not in SECRET_KEY: put it back`,
      ),
    )
    useKeys()
    assert.deepEqual(await problems(), [])
  })
})

describeService('sealed texts of all kinds', service => {
  giveSecretKey()

  test('what was put in the place of a sealed text is named by check, whatever it is', async () => {
    const shop = { name: 'shop', type: 'woocommerce', context: 'shop', secret: 'a secret of the shop' }
    const add = async () => (await service().post('/sources', shop)).body.id
    const [one, two] = [await add(), await add()]
    const user = await service().database.reader.selectFrom('users').select('id').executeTakeFirstOrThrow()
    await service().database.transaction(tx =>
      sql`INSERT INTO second_factors (user_id, secret, last_step, created_at, confirmed_at)
        VALUES (${user.id}, ${sealedFactor(user.id, 'ABC')}, 0, 0, NULL)`.execute(tx),
    )
    await addSepaPayees(service(), ['replaced'])
    const { body: details } = await service().get('/payment-details')
    const [{ id }] = details
    const problems = async () => (await checkDatabase(service().database, features)).problems
    assert.deepEqual(await problems(), [])
    const sources = sql`sources SET secret`
    const former = await service().database.reader.selectFrom('sources').select(['id', 'secret']).execute()
    const key = former[0]!.secret.slice(0, 8)
    const set = (what: ReturnType<typeof sql>, where: ReturnType<typeof sql>, value: string) =>
      service().database.transaction(async tx => {
        await sql`UPDATE ${what} = ${value} WHERE ${where}`.execute(tx)
      })
    for (const garbage of ['zz', `${key}.zz`]) {
      await set(sources, sql`id = ${one}`, garbage)
      await set(sql`second_factors SET secret`, sql`user_id = ${user.id}`, garbage)
      await set(sql`payment_details SET sealed`, sql`id = ${id}`, garbage)
      const found = await problems()
      for (const row of [`sources ${one}`, `second_factors ${user.id}`, `payment_details ${id}`])
        assert.ok(found.some(problem => problem.startsWith(`${row}: `) && /no sealed text/.test(problem)))
      assert.equal(found.length, 3)
    }
    // That of another source is as genuine.
    await set(sources, sql`id = ${one}`, former.find(source => source.id === two)!.secret)
    assert.match((await problems()).join('\n'), new RegExp(`sources ${one}: .* altered`))
  })
})
