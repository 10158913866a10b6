/**
 * Requests per minute and key, where a large body counts as several, and refused keys per minute and address. A valid key is always served, wherever it comes
 * from: behind one address there may be many callers, and one of them must not be able to lock out the others. Tokens
 * can't be guessed (256 random bits), so what the limit on refused keys is for is to slow down and to show who tries.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Actor } from '../../base/actor.ts'
import { Failure } from '../../base/errors.ts'
import { networksOf } from '../../base/network.ts'
import { Allowances, type Grantor, WINDOW_SECONDS } from './allowances.ts'

/** To read so much of a body takes about as long as a small request. */
const REQUEST_BYTES = 16 * 1024
/** To read for so long keeps a processor as busy as many small requests do. */
const REQUEST_READ_MS = 10

export class Limiter {
  readonly #allowances: Allowances
  readonly #requests: number
  readonly #policy: string

  /** @param requests per minute and key, and refused ones per minute and address; 0 is no limit */
  constructor(requests: number, grantor: Grantor) {
    this.#allowances = new Allowances(grantor)
    this.#requests = requests
    this.#policy = `${requests};w=${WINDOW_SECONDS}`
  }

  /**
   * @param authenticate finds out who asks; it is given what tells whether the address has used up its refusals
   * @throws Failure what `authenticate` throws, too_many_refusals, too_many_requests
   */
  async admit(
    request: FastifyRequest,
    reply: FastifyReply,
    authenticate: (isSuspect?: () => boolean) => Promise<Actor>,
  ): Promise<Actor> {
    if (this.#requests === 0) return authenticate()
    let actor: Actor
    try {
      actor = await authenticate(() => this.#allowances.isUsedUp(refusalsOf(request.ip)))
    } catch (error) {
      if (error instanceof Failure && error.failure === 'unauthenticated') await this.#refuse(request.ip)
      throw error
    }
    await this.#spend(reply, actor, 1)
    return actor
  }

  /**
   * Counts a large body as several requests, before it is read.
   * @throws Failure too_many_requests
   */
  async charge(request: FastifyRequest, reply: FastifyReply, bytes: number): Promise<void> {
    const requests = Math.floor(bytes / REQUEST_BYTES)
    if (this.#requests > 0 && requests > 0) await this.#spend(reply, request.actor!, requests)
  }

  /** Counts what was read as several requests, or as many as are left: it was read already. */
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

/** The name of the allowance for refused keys. */
function refusalsOf(address: string): string {
  return `address ${networksOf(address)[0]}`
}
