/** Domain of erased accounts' addresses: reserved, so no mail is delivered. */
const HOST = '@erased.invalid'

export const erasedAddress = (login: string) => login + HOST

/** @returns '' where the account was erased */
export const reachable = (email: string) => (email.endsWith(HOST) ? '' : email)
