/** Texts that files for banks can carry. What they cannot is refused: nothing is cut off or replaced. */

/** The characters of the Latin set that every bank takes in a SEPA file, by the EPC's guidelines (EPC132-08). */
const SEPA = /^[A-Za-z0-9/\-?:().,'+ ]$/
/** Banks give a meaning to slashes at either end, and to two together. */
const MISPLACED_SLASH = /^\/|\/$|\/\//
const ASCII = /^[\x20-\x7e]$/

export const MOST_SEPA_NAME = 70
/** Of the payer, as the header of a batch names it. */
export const MOST_ACH_PAYER = 16

/** @param subject begins the sentence that says what is wrong, such as 'The name' */
export function problemInSepa(text: string, subject: string, most: number): string | undefined {
  if (text.length > most) return `${subject} is longer than ${most} characters, which SEPA allows.`
  const wrong = strange(text, SEPA)
  if (wrong !== '') return `${subject} has characters that SEPA does not allow: ${wrong}.${spellingFor(text)}`
  if (MISPLACED_SLASH.test(text)) return `${subject} has a slash at an end, or two together.`
  return problemOfEnds(text, subject)
}

export function problemInAch(text: string, subject: string, most: number): string | undefined {
  if (text.length > most) return `${subject} is longer than ${most} characters, which ACH files allow.`
  const wrong = strange(text, ASCII)
  if (wrong !== '') return `${subject} has characters that ACH files do not allow: ${wrong}.`
  return problemOfEnds(text, subject)
}

/** A text of spaces alone would be none at all. */
const problemOfEnds = (text: string, subject: string) =>
  text.trim() === text ? undefined : `${subject} begins or ends with a space.`

/** How banks spell what has no letters of the Latin set. */
const SPELT: Readonly<Record<string, string>> = {
  ä: 'ae',
  ö: 'oe',
  ü: 'ue',
  ß: 'ss',
  æ: 'ae',
  ø: 'oe',
  ł: 'l',
  đ: 'd',
  '&': '+',
}

/** A sentence that proposes another spelling: only a person can decide for it. Empty if there is none. */
function spellingFor(text: string): string {
  const isLarge = text === text.toUpperCase()
  const spelt = text
    .normalize('NFC')
    .replace(/./gu, character => {
      const other = SPELT[character.toLowerCase()]
      if (other === undefined) return character
      if (isLarge) return other.toUpperCase()
      return character === character.toLowerCase() ? other : other[0]!.toUpperCase() + other.slice(1)
    })
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
  return strange(spelt, SEPA) === '' ? ` Banks spell it ${spelt}.` : ''
}

/** The characters of a text that are not allowed, for the message that names them. */
function strange(text: string, allowed: RegExp): string {
  return [...new Set([...text].filter(character => !allowed.test(character)))].join(' ')
}
