/** Inflected words. Also used in the browser. */

const irregular: Record<string, string> = { pay: 'paid', send: 'sent', prepare: 'prepared', reset: 'reset' }

/** @param verb 'approve' @returns 'approved' */
export function past(verb: string): string {
  if (irregular[verb]) return irregular[verb]
  return verb.endsWith('e') ? `${verb}d` : `${verb}ed`
}

/** @param name 'payout_run' or 'payout-run' @returns 'PayoutRun' */
export function pascalCase(name: string): string {
  return name.replace(/(?:^|[_-])(\w)/g, (_, letter) => letter.toUpperCase())
}
