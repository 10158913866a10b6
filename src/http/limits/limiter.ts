/**
 * Limits requests per minute and key (a large body counts as several), and refused keys per minute and address. A valid
 * key is always served, whatever its address: many callers may share one address, and one of them must not be able to
 * lock out the others. Tokens cannot be guessed (256 random bits), so the limit on refused keys merely slows attempts down
 * and makes them visible.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Actor } from '../../base/actor.ts'
import { Failure } from '../../base/errors.ts'
import { networksOf } from '../../base/network.ts'
import { addressOf } from '../address.ts'
import { Allowances, type Grantor, WINDOW_SECONDS } from './allowances.ts'

/** Body size that takes about as long to read as a small request. */
const REQUEST_BYTES = 16 * 1024
/** Read time that keeps a processor as busy as many small requests do. */
const REQUEST_READ_MS = 10

export class Limiter {
  readonly #allowances: Allowances
  readonly #requests: number
  readonly #policy: string

  /** @param requests per minute and key, and refused keys per minute and address; 0 means no limit */
  constructor(requests: number, grantor: Grantor) {
    this.#allowances = new Allowances(grantor)
    this.#requests = requests
    this.#policy = `${requests};w=${WINDOW_SECONDS}`
  }

  /**
   * @param authenticate authenticates the request; its argument tells whether the address has used up its refusals
   * @throws Failure too_many_refusals, too_many_requests, or whatever `authenticate` throws
   */
  async admit(
    request: FastifyRequest,
    reply: FastifyReply,
    authenticate: (isSuspect?: () => boolean) => Promise<Actor>,
  ): Promise<Actor> {
    if (this.#requests === 0) return authenticate()
    let actor: Actor
    try {
      actor = await authenticate(() => this.#allowances.isUsedUp(refusalsOf(addressOf(request))))
    } catch (error) {
      if (error instanceof Failure && error.failure === 'unauthenticated')
        await this.#refuse(addressOf(request))
      throw error
    }
    await this.#spend(reply, actor, 1)
    return actor
  }

  /**
   * Charges a large body as several requests, before it is parsed.
   * @throws Failure too_many_requests
   */
  async charge(request: FastifyRequest, reply: FastifyReply, bytes: number): Promise<void> {
    const requests = Math.floor(bytes / REQUEST_BYTES)
    if (this.#requests > 0 && requests > 0) await this.#spend(reply, request.actor!, requests)
  }

  /** Charges read time as several requests, or as many as are left, since the reading is done. */
  chargeRead({ actor }: FastifyRequest, readMs: number): void {
    const requests = Math.floor(readMs / REQUEST_READ_MS)
    if (this.#requests === 0 || requests === 0) return
    void this.#spendLeft(`key ${actor!.name}`, requests)
  }

  async #spendLeft(name: string, count: number): Promise<void> {
    const { allowed, remaining } = await this.#allowances.spend(name, this.#requests, count)
    if (!allowed && remaining > 0) await this.#allowances.spend(name, this.#requests, remaining)
  }

  async #spend(reply: FastifyReply, { name }: Actor, count: number): Promise<void> {
    const spending = this.#allowances.spend(`key ${name}`, this.#requests, count)
    const { allowed, remaining, resetSeconds } = spending instanceof Promise ? await spending : spending
    reply.header('RateLimit-Limit', this.#requests)
    reply.header('RateLimit-Remaining', remaining)
    reply.header('RateLimit-Reset', resetSeconds)
    reply.header('RateLimit-Policy', this.#policy)
    if (!allowed) throw new Failure('too_many_requests', { data: { retry_after: resetSeconds } })
  }

  async #refuse(address: string): Promise<void> {
    const { allowed, resetSeconds } = await this.#allowances.spend(refusalsOf(address), this.#requests)
    if (!allowed) throw new Failure('too_many_refusals', { data: { retry_after: resetSeconds } })
  }
}

/** Name of the limit on refused keys. */
function refusalsOf(address: string): string {
  return `address ${networksOf(address)[0]}`
}
