/** Rules for links: each has a unique code, which is generated when none is sent. */
import { randomInt } from 'node:crypto'
import type { Static } from 'typebox'
import { Failure } from '../../base/errors.ts'
import type { RequestContext } from '../../events/write.ts'
import { plainRules } from '../../records/rules.ts'
import { UniqueViolation } from '../../storage/database.ts'
import { type Link, link } from './link.ts'
import { links } from './store.ts'

type CreateArguments = Static<typeof link.create>
type EditArguments = Static<typeof link.edit>

const CODE_LENGTH = 7
/** Without letters and digits that look alike. */
const LETTERS = 'abcdefghijkmnpqrstuvwxyz'
const CHARACTERS = `${LETTERS}23456789`

const plain = plainRules(link, links)

export const rules = {
  ...plain,
  /** @throws Failure invalid_argument, code_taken */
  create: (context: RequestContext, args: CreateArguments): Promise<Link> =>
    refuseTaken(() => plain.create(context, { ...args, code: args.code ?? randomCode() })),
  /** @throws Failure no_link, invalid_argument, code_taken */
  edit: (context: RequestContext, args: EditArguments): Promise<Link> =>
    refuseTaken(() => plain.edit(context, args)),
}

/** Begins with a letter, so that it is never mistaken for an identifier. */
function randomCode(): string {
  const pick = (characters: string) => characters[randomInt(characters.length)]!
  return pick(LETTERS) + Array.from({ length: CODE_LENGTH - 1 }, () => pick(CHARACTERS)).join('')
}

async function refuseTaken<T>(change: () => Promise<T>): Promise<T> {
  try {
    return await change()
  } catch (cause) {
    if (cause instanceof UniqueViolation) throw new Failure('code_taken')
    throw cause
  }
}
