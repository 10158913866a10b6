/** How names of the interface are written for people. */

/** Words that are not written as others are. */
const spelled = new Map([
  ['csv', 'CSV'],
  ['nacha', 'ACH'],
  ['paypal', 'PayPal'],
  ['sepa', 'SEPA'],
])

/** 'payout_run' becomes 'Payout run'. */
export function capital(word: string): string {
  const own = spelled.get(word)
  if (own !== undefined) return own
  const spaced = word.replaceAll('_', ' ')
  return spaced.charAt(0).toUpperCase() + spaced.slice(1)
}

/** The name of a field within a sentence: 'affiliate_id' becomes 'affiliate'. */
export const fieldName = (name: string) => name.replace(/_id$/, '').replaceAll('_', ' ')

/** Names of the interface as choices of a field. */
export const choicesOf = (names: readonly string[]) => names.map(id => ({ id, name: capital(id) }))

/** @param names what each choice is called */
export const namedChoices = (names: Readonly<Record<string, string>>) =>
  Object.entries(names).map(([id, name]) => ({ id, name }))
