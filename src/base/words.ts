/** Inflected words. Also used in the browser. */

const irregular: Record<string, string> = { pay: 'paid', send: 'sent', prepare: 'prepared', reset: 'reset' }

/** @param verb 'approve' @returns 'approved' */
export function past(verb: string): string {
  if (irregular[verb]) return irregular[verb]
  return verb.endsWith('e') ? `${verb}d` : `${verb}ed`
}

/** @param noun 'order' @returns '1 order' or '2 orders' */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** @param name 'payout_run' or 'payout-run' @returns 'PayoutRun' */
export function pascalCase(name: string): string {
  return name.replace(/(?:^|[_-])(\w)/g, (_, letter) => letter.toUpperCase())
}

/** What an import has done. */
export const importedText = ({
  lines,
  imported,
  existing,
}: Readonly<Record<'lines' | 'imported' | 'existing', number>>): string =>
  `Imported ${imported} of ${lines} lines; ${existing} ${existing === 1 ? 'was' : 'were'} there already.`
