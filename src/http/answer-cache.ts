/**
 * Answers to reads, kept until anything in the database changes. Clients ask for the same records over and over, and
 * most of what a read costs is building its answer. The database itself tells whether it has changed, whoever changed
 * it, so an answer is never older than the one that reading again would give. An engine that can't tell keeps none.
 */
import type { FastifyRequest } from 'fastify'
import type { Database } from '../storage/database.ts'
import type { Answer } from './endpoint.ts'

/** Of addresses and bodies of one generation; a character takes one byte, or two where it is not Latin. */
const CHARACTERS_KEPT = 4 * 2 ** 20
/** Of addresses that were asked for, and may be asked for again. */
const CHARACTERS_REMEMBERED = 2 ** 20

export class AnswerCache {
  readonly #database: Database
  #version: number | undefined
  // When a generation is full, the one before is dropped whole: what is asked for has moved on into the newer by then.
  #answers = new Map<string, Answer>()
  #before = new Map<string, Answer>()
  #characters = 0
  readonly #asked = new Set<string>()
  #charactersAsked = 0

  constructor(database: Database) {
    this.#database = database
  }

  /**
   * @param url what the answer depends on, beside the database
   * @param build makes the answer
   */
  async answer(url: string, build: () => Promise<Answer>): Promise<Answer> {
    const version = this.#database.version?.()
    if (version === undefined) return build()
    if (version !== this.#version) this.#forget(version)
    const known = this.#answers.get(url)
    if (known) return known
    const answer = this.#before.get(url) ?? (await build())
    // What was built while something changed may be half of one state and half of another.
    if (version === this.#database.version?.() && version === this.#version) this.#keep(url, answer)
    return answer
  }

  #forget(version: number): void {
    this.#version = version
    if (this.#answers.size > 0) this.#answers = new Map()
    if (this.#before.size > 0) this.#before = new Map()
    this.#characters = 0
  }

  #keep(url: string, answer: Answer): void {
    if (typeof answer.body !== 'string' || !this.#wasAsked(url)) return
    this.#answers.set(url, answer)
    this.#characters += url.length + answer.body.length
    if (this.#characters < CHARACTERS_KEPT) return
    this.#before = this.#answers
    this.#answers = new Map()
    this.#characters = 0
  }
  /** What is asked for once is most often not asked for again, and would only push out what is. */
  #wasAsked(url: string): boolean {
    if (this.#asked.has(url)) return true
    this.#charactersAsked += url.length
    if (this.#charactersAsked > CHARACTERS_REMEMBERED) {
      this.#asked.clear()
      this.#charactersAsked = url.length
    }
    this.#asked.add(url)
    return false
  }
}

/**
 * What an answer depends on, beside the database. A line feed can be in none of the parts, and what is declared comes
 * first, so no header can make one request look like another.
 */
export function keyOf(request: FastifyRequest, method: string, path: string): string {
  return `${method} ${path}\n${request.protocol}\n${request.host}\n${request.url}`
}
