import { useQuery } from '@tanstack/react-query'
import type { RaRecord } from 'react-admin'
import type { Static } from 'typebox'
import type { runItem } from '../../../src/programme/runs/item.ts'
import type { payoutRun } from '../../../src/programme/runs/run.ts'
import type { fileRecord, reconciliationRecord } from '../../../src/programme/runs/schema.ts'
import { isFor, methods as payoutMethods } from '../../../src/programme/runs/words.ts'
import { get } from '../api.ts'

export type Run = Static<typeof payoutRun.record> & RaRecord<number>
export type Item = Static<typeof runItem.record> & RaRecord<number>
export type RunFile = Static<typeof fileRecord>

/** A method that has no words here does not compile. */
const words: Readonly<Record<Run['method'], { readonly name: string; readonly hint: string }>> = {
  csv: { name: 'Plain CSV', hint: 'A table of payees and amounts, for any other way of paying.' },
  paypal: { name: 'PayPal', hint: 'A mass payment file, to upload at PayPal.' },
  sepa: { name: 'SEPA', hint: 'A credit transfer in EUR (pain.001), for your bank.' },
  nacha: { name: 'ACH', hint: 'Direct deposits in USD (Nacha), for your bank.' },
}

export const methods = payoutMethods.map(id => ({ id, ...words[id] }))

/** The methods by which a programme in this currency can pay. */
export const methodsFor = (currency: string) => methods.filter(({ id }) => isFor(id, currency))

/** Of a payout: people may have typed a method of their own. */
export const methodName = (method: string) => methods.find(({ id }) => id === method)?.name ?? method

export const methodOf = (name: string) =>
  methods.find(method => method.name.toLowerCase() === name.trim().toLowerCase())?.id

/** Title in the global search. */
export const titleOf = (run: Run) => `${nameOf(run)}, ${methodName(run.method)}, ${run.status}`

export const nameOf = ({ id }: Pick<Run, 'id'>) => `Payout run ${id}`

/** The approved payments by outcome; their data is undefined until they are read. */
export function useReconciliation({ id, status }: Run) {
  return useQuery({
    queryKey: ['payout-runs', id, 'reconciliation', status],
    queryFn: () =>
      get<Readonly<Record<string, Static<typeof reconciliationRecord>['sent']>>>(
        `payout-runs/${id}/reconciliation`,
      ),
  })
}
