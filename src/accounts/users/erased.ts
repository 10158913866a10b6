/** The address of an erased account, which no mail reaches. */
const HOST = '@erased.invalid'

export const erasedAddress = (login: string) => login + HOST

export const isErasedAddress = (email: string) => email.endsWith(HOST)
