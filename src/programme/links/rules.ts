/** Rules for links: each has a unique code, which is generated when none is sent. */
import { randomInt } from 'node:crypto'
import type { Static } from 'typebox'
import { type Problems, refuseInvalid } from '../../base/errors.ts'
import { type Context, inTransaction, type RequestContext, write } from '../../events/write.ts'
import { plainRules, refusingTwo } from '../../records/rules.ts'
import { isDefault, type Link, link } from './link.ts'
import { links } from './store.ts'

type CreateArguments = Static<typeof link.create>
type EditArguments = Partial<Static<typeof link.edit>> & { readonly link_id?: number }

const CODE_LENGTH = 7
/** Without letters and digits that look alike. */
const LETTERS = 'abcdefghijkmnpqrstuvwxyz'
const CHARACTERS = `${LETTERS}23456789`

const plain = plainRules(link, links)

/** @throws Failure no_link, invalid_argument, code_taken */
export const rules = {
  ...plain,
  problems: async (context: Context, sent: EditArguments) => {
    const { link_id: id } = sent
    const before = id === undefined ? undefined : await links.find(context.database.reader, id)
    const { args, problems } = judged(sent, before)
    return { ...(await plain.problems(context, args)), ...problems }
  },
  ...refusingTwo(
    {
      create: async (context: RequestContext, args: CreateArguments) => {
        const problems = problemOfCode(args)
        const isWrong = Object.keys(problems).length > 0
        // With all others, which the creation finds as well.
        if (isWrong) refuseInvalid({ ...problems, ...(await plain.problems(context, args)) })
        return plain.create(context, { ...args, code: args.code ?? randomCode() })
      },
      edit: (context: RequestContext, sent: EditArguments & { readonly link_id: number }) =>
        write(context, async tx => {
          const { args, problems } = judged(sent, await links.lock(tx, sent.link_id))
          refuseInvalid(problems)
          return plain.edit(inTransaction(context, tx), args)
        }),
    },
    'code_taken',
  ),
}

/** The default link of an affiliate keeps its code and its affiliate: both can be sent as they are. */
function judged(
  args: EditArguments,
  before: Pick<Link, 'code' | 'affiliate_id'> | undefined,
): { args: EditArguments; problems: Problems } {
  const { code, affiliate_id, ...others } = args
  if (!before) return { args, problems: problemOfCode(args) }
  if (!isDefault(before.code)) return { args, problems: problemOfCode(code === undefined ? {} : { code }) }
  const wrong = (what: string) =>
    `must stay ${what}: it is the default link of this affiliate. Make another link.`
  const problems = {
    ...(code !== undefined && code !== before.code && { code: wrong(before.code) }),
    ...(affiliate_id !== undefined &&
      affiliate_id !== before.affiliate_id && { affiliate_id: wrong(String(before.affiliate_id)) }),
  }
  return { args: others, problems }
}

/** A default link that was deleted can be made again. */
const problemOfCode = ({ code, affiliate_id }: EditArguments): Problems =>
  code !== undefined && isDefault(code) && code !== String(affiliate_id)
    ? { code: 'must have a letter: digits alone are the default link of the affiliate with this identifier.' }
    : {}

/** Begins with a letter, so that it is never mistaken for an identifier. */
function randomCode(): string {
  const pick = (characters: string) => characters[randomInt(characters.length)]!
  return pick(LETTERS) + Array.from({ length: CODE_LENGTH - 1 }, () => pick(CHARACTERS)).join('')
}
