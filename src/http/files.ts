/** Answers that are files. */
import type { Answer, Endpoint } from './endpoint.ts'

/** What an endpoint declares that answers with a file of one of these media types. */
export const fileAnswer = (...types: readonly string[]): Endpoint['answer'] => ({
  status: 200,
  schema: { type: 'string' },
  headers: ['Content-Disposition'],
  types,
})

/** @param name under which a browser stores it: letters, digits, dots and hyphens */
export const fileOf = (name: string, type: string, body: Answer['body']): Answer => ({
  status: 200,
  headers: { 'Content-Type': type, 'Content-Disposition': `attachment; filename="${name}"` },
  body,
})
