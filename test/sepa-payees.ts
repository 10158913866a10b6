/** People whom a payout run by SEPA pays. */
import assert from 'node:assert/strict'
import type { Service } from './harness.ts'

/** What a run needs of the shop, and of each payee: 10.00 that is owed, and bank details. */
export async function addSepaPayees(service: Service, names: readonly string[]) {
  const admin = await service.admin()
  await admin.patch('/settings', { currency: 'EUR', ...sepaPayer })
  const people: { id: number; user_id: number }[] = []
  for (const name of names) {
    const person = await service.newAffiliate(name, { status: 'active' })
    await service.post('/referrals', { affiliate_id: person.id, amount: 10, status: 'unpaid' })
    const sent = { affiliate_id: person.id, ...sepaDetails, holder: `Payee ${name}` }
    assert.equal((await service.post('/payment-details', sent)).status, 201)
    people.push(person)
  }
  return people
}

export const sepaPayer = { payer_name: 'Shop', payer_iban: 'DE89370400440532013000' }

export const sepaDetails = { method: 'sepa', iban: 'NL91ABNA0417164300', holder: 'Payee' }
