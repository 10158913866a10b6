/** Domain of erased accounts' addresses: reserved, so no mail is delivered. */
const HOST = '@erased.invalid'

export const erasedAddress = (login: string) => login + HOST

export const isErasedAddress = (email: string) => email.endsWith(HOST)
