/** Rules for exchange rates. Drafts may wait for a new one. */
import type { Static } from 'typebox'
import { type Problems, refuseInvalid } from '../../base/errors.ts'
import { type Context, inTransaction, type RequestContext, type WriteTx, write } from '../../events/write.ts'
import { plainRules, refusingTwo } from '../../records/rules.ts'
import { markRules } from '../../settings/rules.ts'
import { rejudgeDrafts } from '../referrals/drafts.ts'
import { type ExchangeRate, exchangeRate } from './exchange-rate.ts'
import { exchangeRates } from './store.ts'

export type CreateArguments = Static<typeof exchangeRate.create>
type EditArguments = Static<typeof exchangeRate.edit>

const plain = plainRules(exchangeRate, exchangeRates)

/** @throws Failure invalid_argument */
async function create(context: RequestContext, args: CreateArguments): Promise<ExchangeRate> {
  return rejudging(context, async tx => {
    const { currency } = await context.settings.lock(tx)
    const completeArgs = { to_currency: currency, ...args }
    refuseInvalid(problemsOfPair(completeArgs))
    return plain.create(inTransaction(context, tx), completeArgs)
  })
}

/** Amounts already converted keep their rate. @throws Failure no_exchange_rate, invalid_argument */
async function edit(context: RequestContext, args: EditArguments): Promise<ExchangeRate> {
  return rejudging(context, async tx => {
    const before = await exchangeRates.lock(tx, args.exchange_rate_id)
    refuseInvalid(problemsOfPair({ ...before, ...args }))
    return plain.edit(inTransaction(context, tx), args)
  })
}

export const rules = {
  ...plain,
  ...refusingTwo({ create, edit }, 'exchange_rate_exists'),
  problems: async (context: Context, args: Partial<EditArguments>) => ({
    ...(await plain.problems(context, args)),
    ...problemsOfPair(args),
  }),
}

function rejudging(
  context: RequestContext,
  work: (tx: WriteTx) => Promise<ExchangeRate>,
): Promise<ExchangeRate> {
  return write(context, async tx => {
    // Before anything else, so that sales without this rate are finished, and their drafts are seen here or later.
    await markRules(tx, context.database.engine)
    const row = await work(tx)
    await rejudgeDrafts(tx, await context.settings.lock(tx), {
      reasons: ['no_exchange_rate', 'too_large'],
    })
    return row
  })
}

function problemsOfPair({ from_currency: from, to_currency: to }: Partial<CreateArguments>): Problems {
  if (from === undefined || to === undefined || from.toUpperCase() !== to.toUpperCase()) return {}
  return { from_currency: `must be another currency than ${to.toUpperCase()}, which it is exchanged to.` }
}
