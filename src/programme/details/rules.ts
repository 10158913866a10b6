/**
 * Rules for payment details. They are never edited: new ones replace those of the same method, and are used after a
 * waiting period, so that a takeover of an account is noticed in time.
 */
import { sealedFactors } from '../../accounts/second-factor/codes.ts'
import { bicProblem, compactCode, ibanProblem, isRouting } from '../../base/banks.ts'
import { Failure, invalidArguments, type Problems, refuseInvalid } from '../../base/errors.ts'
import { foldCase } from '../../base/text.ts'
import { DAY_SECONDS, now } from '../../base/time.ts'
import { type Context, type RequestContext, type WriteTx, write } from '../../events/write.ts'
import { existing, readingOf } from '../../records/rules.ts'
import { noSuch, personOf } from '../../records/store.ts'
import type { Db, Tx } from '../../storage/database.ts'
import { refuseLostKeys, rotateSecretKey, type Sealed } from '../../storage/resealing.ts'
import { givenUp, seal, unseal } from '../../storage/secret-keys.ts'
import type { Affiliate } from '../affiliates/affiliate.ts'
import { affiliates } from '../affiliates/store.ts'
import { wasPaid } from '../payouts/store.ts'
import { isFormula } from '../runs/formats/format.ts'
import { formatOf } from '../runs/formats/formats.ts'
import { sealedSecrets } from '../sources/store.ts'
import { type Account, type CreateArguments, type PaymentDetail, paymentDetail } from './details.ts'
import * as store from './store.ts'

export const reading = readingOf(paymentDetail, store.details)

/** @throws Failure invalid_argument, secret_key */
export async function create(context: RequestContext, args: CreateArguments): Promise<PaymentDetail> {
  return write(context, async tx => {
    const settings = await context.settings.lock(tx)
    // Locks the affiliate, so that of concurrent entries each ends the one before.
    const affiliate = await affiliates.lock(tx, args.affiliate_id)
    // Only what the lock found counts: an affiliate created since would be one that is not locked.
    refuseInvalid({ ...(affiliate ? {} : noAffiliate), ...problemsOf(args) })
    const [before] = await store.currentOf(tx, [args.affiliate_id], args.method)
    const time = now()
    const waits = await isChange(tx, affiliate!, args)
    if (before) await end(context, tx, before, 'replaced')
    const account = accountOf(args)
    const row = paymentDetail.newRow(args, settings, { time, actor: context.actor.userId })
    const created = await store.details.insert(tx, {
      ...row,
      account: masked(account),
      usable_from: waits ? time + settings.payouts.detailsDays * DAY_SECONDS : time,
      entered_by: context.actor.userId,
      sealed: '',
    })
    // Sealed for the identifier, which the database has given.
    const sealed = seal(JSON.stringify(account), aboutOf(created))
    await store.details.update(tx, created, { sealed })
    tx.log('payment_detail.create', created.id, {
      after: paymentDetail.logged(created, settings),
      person: await personOf(tx, context.database.schema, paymentDetail, created),
    })
    return created
  })
}

/**
 * Whether payments change their destination. Removed details count as well: removing them and entering new ones is a
 * change. PayPal uses the payment address until details are entered, and whoever was paid, was paid somewhere.
 */
async function isChange(
  tx: Tx,
  { id, payment_email: address }: Pick<Affiliate, 'id' | 'payment_email'>,
  { method, paypal_email = '' }: CreateArguments,
): Promise<boolean> {
  if (await store.hadAny(tx, id)) return true
  if (method !== 'paypal') return wasPaid(tx, id)
  if ((await store.addressesChanged(tx, [id])).size > 0) return true
  return address === '' ? wasPaid(tx, id) : foldCase(address) !== foldCase(paypal_email)
}

async function end(
  context: Context,
  tx: WriteTx,
  before: PaymentDetail,
  status: 'replaced' | 'removed',
): Promise<PaymentDetail> {
  const settings = await context.settings.lock(tx)
  const after = await store.details.update(tx, before, { status, updated_at: now() })
  tx.log(status === 'removed' ? 'payment_detail.delete' : 'payment_detail.replace', before.id, {
    before: paymentDetail.logged(before, settings),
    after: paymentDetail.logged(after, settings),
    person: await personOf(tx, context.database.schema, paymentDetail, after),
  })
  return after
}

/**
 * Ends the details: payout runs no longer use them; they stay in the history.
 * @throws Failure no_payment_detail
 */
export async function remove(context: RequestContext, id: number): Promise<PaymentDetail> {
  return write(context, async tx => {
    const before = existing(paymentDetail, await store.details.lock(tx, id))
    if (before.status === 'current') {
      await end(context, tx, before, 'removed')
      // PayPal payments then go to the affiliate's payment address.
      if (before.method === 'paypal') await store.markAddressChanged(tx, before.affiliate_id, now())
    }
    return before
  })
}

/** Validation beyond the schemas. */
export async function problems({ database }: Context, args: Partial<CreateArguments>): Promise<Problems> {
  const { affiliate_id: id } = args
  const isUnknown = id !== undefined && !(await affiliates.isThere(database.reader, id))
  return { ...(isUnknown && noAffiliate), ...problemsOf(args) }
}

const noAffiliate: Problems = { affiliate_id: noSuch('affiliate') }

const problemsOf = ({ method, ...args }: Partial<CreateArguments>): Problems =>
  method ? { ...problemOfHolder(method, args), ...problemsOfMethod[method](args) } : {}

/** Refuses names that a run's files cannot contain: better now than when the money is due. */
function problemOfHolder(method: Method, { holder = '' }: Partial<CreateArguments>): Problems {
  if (isFormula(holder)) return { holder: 'must not begin as a formula of a spreadsheet does.' }
  const problem = holder && formatOf(method).problemOfName?.(holder)
  return problem ? { holder: `cannot be in a file for the bank. ${problem}` } : {}
}

type Method = CreateArguments['method']

const isRequired = 'must be sent for this method.'

const problemsOfMethod: Record<Method, (args: Partial<CreateArguments>) => Problems> = {
  paypal: ({ paypal_email }) => {
    const wrong = paypal_email ? formatOf('paypal').problemOfAccount?.(paypal_email) : isRequired
    return wrong === undefined ? {} : { paypal_email: wrong }
  },
  sepa: ({ iban, bic, holder }) => {
    const wrong = iban ? ibanProblem(compactCode(iban)) : isRequired
    const wrongBic = bic && bicProblem(compactCode(bic))
    return {
      ...(wrong && { iban: wrong }),
      ...(wrongBic && { bic: wrongBic }),
      ...(!holder && { holder: isRequired }),
    }
  },
  nacha: ({ routing_number: routing, account_number: account, holder }) => ({
    ...(!isRouting(compactCode(routing ?? '')) && {
      routing_number: 'must be a routing number of 9 digits.',
    }),
    ...(!/^[A-Za-z0-9-]{1,17}$/.test(account ?? '') && {
      account_number: 'must be 1 to 17 digits, letters and hyphens.',
    }),
    ...(!holder && { holder: isRequired }),
  }),
}

function accountOf(args: CreateArguments): Account {
  switch (args.method) {
    case 'paypal':
      return { paypalEmail: args.paypal_email! }
    case 'sepa':
      return { iban: compactCode(args.iban!), ...(args.bic && { bic: compactCode(args.bic) }) }
    case 'nacha':
      return {
        routingNumber: compactCode(args.routing_number!),
        accountNumber: args.account_number!,
        accountType: args.account_type ?? 'checking',
        company: args.company ?? false,
      }
  }
}

/** The readable part: the end of an account number, or the beginning and host of an address. */
function masked({ paypalEmail, iban, accountNumber }: Account): string {
  if (iban !== undefined) return `${iban.slice(0, 2)} •••• ${iban.slice(-4)}`
  if (accountNumber !== undefined) return `•••• ${endOf(accountNumber).padStart(4, '•')}`
  const [name = '', host = ''] = paypalEmail!.split('@')
  return `${name.slice(0, 1)}•••@${host}`
}

/** At most half of a short number. */
const endOf = (account: string) => account.slice(Math.max(account.length - 4, Math.ceil(account.length / 2)))

type Owned = Pick<PaymentDetail, 'id' | 'affiliate_id' | 'method'>

/** With the identifier: earlier details of the same affiliate do not open in the place of the present ones. */
const aboutOf = ({ id, affiliate_id, method }: Owned) =>
  `payment details ${id} of affiliate ${affiliate_id}, ${method}`

/** @throws Failure secret_key, invalid_argument when the details were erased */
export function unsealedAccount(row: Owned & Pick<PaymentDetail, 'sealed'>): Account {
  if (row.sealed === '') {
    throw invalidArguments({
      affiliate_id: `the payment details of affiliate ${row.affiliate_id} were erased.`,
    })
  }
  try {
    return JSON.parse(unseal(row.sealed, aboutOf(row)))
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause
    const message = `The payment details of affiliate ${row.affiliate_id} cannot be opened. ${cause.message}`
    throw new Failure('secret_key', { message, cause })
  }
}

/** Whether the key that details are sealed by is lost for good. */
export const isGivenUp = ({ sealed }: Pick<PaymentDetail, 'sealed'>): boolean =>
  givenUp().some(name => sealed.startsWith(name))

const sealedDetails: Sealed<PaymentDetail> = {
  table: 'payment_details',
  column: 'sealed',
  about: aboutOf,
  problem: row =>
    masked(unsealedAccount(row)) === row.account
      ? undefined
      : 'the sealed account is not the one that the record shows; it was changed beside the service.',
}

/** Everything that the secret key seals. */
export const sealedKinds: readonly Sealed[] = [sealedDetails, sealedSecrets, sealedFactors]

/** @throws Failure secret_key if something is sealed by a key that is neither present nor given up */
export function refuseLost(db: Db, isMeant?: (name: string) => boolean): Promise<void> {
  return refuseLostKeys(db, sealedKinds, isMeant)
}

/**
 * Seals everything with a new key, and drops the old one.
 * @returns the number of payment details, secrets of sources and second factors sealed again
 * @throws Failure secret_key
 */
export function rotate({ database }: Context): Promise<number> {
  return rotateSecretKey(database, sealedKinds)
}
