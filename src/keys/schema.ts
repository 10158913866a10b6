import { type Static, Type } from 'typebox'
import { line, listOf, since } from '../fields.ts'

export const keyArguments = Type.Object({
  name: line(100, 'What the key is for.'),
  permissions: listOf(line(100), 'What the key may do, such as affiliates.read.'),
  expires: Type.Optional(since('The day at whose end the key stops working.')),
})

export type KeyArguments = Static<typeof keyArguments>
