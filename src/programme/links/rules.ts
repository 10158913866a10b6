/** Rules for links: each has a unique code, which is generated when none is sent. */
import { randomInt } from 'node:crypto'
import type { Static } from 'typebox'
import type { RequestContext } from '../../events/write.ts'
import { plainRules, refusingTwo } from '../../records/rules.ts'
import { link } from './link.ts'
import { links } from './store.ts'

type CreateArguments = Static<typeof link.create>

const CODE_LENGTH = 7
/** Without letters and digits that look alike. */
const LETTERS = 'abcdefghijkmnpqrstuvwxyz'
const CHARACTERS = `${LETTERS}23456789`

const plain = plainRules(link, links)

/** @throws Failure no_link, invalid_argument, code_taken */
export const rules = {
  ...plain,
  ...refusingTwo(
    {
      create: (context: RequestContext, args: CreateArguments) =>
        plain.create(context, { ...args, code: args.code ?? randomCode() }),
      edit: plain.edit,
    },
    'code_taken',
  ),
}

/** Begins with a letter, so that it is never mistaken for an identifier. */
function randomCode(): string {
  const pick = (characters: string) => characters[randomInt(characters.length)]!
  return pick(LETTERS) + Array.from({ length: CODE_LENGTH - 1 }, () => pick(CHARACTERS)).join('')
}
