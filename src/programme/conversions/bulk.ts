/** Many conversions by one request, one on each line (NDJSON). Each stands for itself: what is wrong with one stops no other. */
import { Type } from 'typebox'
import { entryOf, Failure } from '../../base/errors.ts'
import type { RequestContext } from '../../events/write.ts'
import { ArgumentReader, refuse } from '../../http/arguments.ts'
import { type Call, type Endpoint, endpoint } from '../../http/endpoint.ts'
import { noParameters, parseJson } from '../../http/parameters.ts'
import { referral } from '../referrals/referral.ts'
import { conversion } from './conversion.ts'
import { type Created, create } from './rules.ts'
import { type CreateArguments, createArguments } from './schema.ts'

const MOST_LINES = 1000
/** Those that are under way together share commits, and connections to a database that is a trip away. */
const AT_ONCE = 64

const reader = new ArgumentReader(createArguments)

/** What a function that may fail gives, or how it has failed. */
async function attempted<T>(work: () => T | Promise<T>): Promise<T | Failure> {
  try {
    return await work()
  } catch (failure) {
    if (failure instanceof Failure) return failure
    throw failure
  }
}

function read(line: string): CreateArguments {
  const { args, problems, missing } = reader.read(noParameters, parseJson(line), noParameters)
  refuse(missing, problems)
  return args as CreateArguments
}

/** Reports lines at once, but those of one payment in their order, so that the first of two equal ones is the new one. */
async function reportAll(context: RequestContext, lines: readonly string[]): Promise<(Created | Failure)[]> {
  const payments = new Map<string, Promise<unknown>>()
  const all = await Promise.all(lines.map(line => attempted(() => read(line))))
  return Promise.all(
    all.map(args => {
      if (args instanceof Failure) return args
      const names = [args.reference, ...(args.references ?? [])].map(name => `${args.context} ${name}`)
      const earlier = Promise.all(names.map(name => payments.get(name)))
      const report = earlier.then(() => attempted(() => create(context, args)))
      for (const name of names) payments.set(name, report)
      return report
    }),
  )
}

/** One result for each line, in their order. */
async function* results(call: Call, lines: readonly string[]): AsyncGenerator<string> {
  const settings = await call.settings.current()
  for (let start = 0; start < lines.length; start += AT_ONCE) {
    const reports = await reportAll(call, lines.slice(start, start + AT_ONCE))
    const texts = reports.map((result, place) => {
      const line = start + place + 1
      if (result instanceof Failure) {
        const { status, code } = entryOf(result.failure)
        return `${JSON.stringify({ line, status, code, message: result.message, data: result.data })}\n`
      }
      const referrals = result.referrals.map(row => `${referral.write(row, settings)}}`).join()
      const written = `${conversion.write(result.conversion, settings)}}`
      return `{"line":${line},"status":${result.replayed ? 200 : 201},"conversion":${written},"referrals":[${referrals}]}\n`
    })
    yield texts.join('')
  }
}

export const reportMany: Endpoint = endpoint({
  methods: ['POST'],
  path: '/conversions/bulk',
  permission: 'conversions.create',
  summary: 'Report many conversions',
  arguments: Type.Object({
    lines: Type.Array(Type.String({ maxLength: 1_048_576, description: 'A conversion as JSON.' }), {
      maxItems: MOST_LINES,
      description: `The body as application/x-ndjson: at most ${MOST_LINES} lines, each a conversion as JSON.`,
    }),
  }),
  answer: {
    status: 200,
    schema: {
      type: 'string',
      description:
        'NDJSON: a result for each line, with line, status, and conversion and referrals, or code and message.',
    },
  },
  inParts: true,
  handle: async (call, { lines }) => ({
    status: 200,
    headers: { 'Content-Type': 'application/x-ndjson' },
    body: results(call, lines),
  }),
})
