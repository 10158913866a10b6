/** The filters of a kind's lists: which arguments its fields give them, and what those select. Pure. */
import { type TSchema, Type } from 'typebox'
import type { Problems } from '../base/errors.ts'
import { identifiers, line, since } from '../base/schemas.ts'
import type { Settings } from '../base/settings.ts'
import { parseSearch } from '../base/text.ts'
import { parseMoment } from '../base/time.ts'
import { isObject } from '../base/unknown.ts'
import { ofEveryList } from '../http/list.ts'
import type { Filter, Part } from './field.ts'

type Arguments = Readonly<Record<string, unknown>>

/** List filters in stored form, by argument name. */
export type Criteria = Readonly<Record<string, unknown>>

/** Filters by argument name, with their column. */
export type Filters = ReadonlyMap<string, { readonly filter: Filter; readonly column: string }>

/** Those of every kind. */
const always = {
  exclude: Type.Optional(identifiers('Leaves out records with one of these identifiers.')),
  updated_since: Type.Optional(since('Only records created or changed at this time or later.')),
}

/** No filter of a field can have such a name. */
const reserved: ReadonlySet<string> = new Set([...ofEveryList, 'search', ...Object.keys(always)])

/** @param search what a search looks through */
export function filterArguments(kind: string, filters: Filters, search: string): Record<string, TSchema> {
  const { exclude, updated_since } = always
  return {
    search: Type.Optional(line(254, search)),
    [`${kind}_id`]: Type.Optional(identifiers(`Only records with one of these identifiers.`)),
    exclude,
    ...Object.fromEntries([...filters].map(([name, { filter }]) => [name, Type.Optional(filter.schema)])),
    updated_since,
  }
}

/** @throws Error where two arguments of a list would have the same name */
export function filtersOf(parts: readonly Part[]): Filters {
  const filters = new Map<string, { readonly filter: Filter; readonly column: string; readonly of: string }>()
  for (const { name, column, field } of parts) {
    const own = { ...(field.filter && { [name]: field.filter }), ...field.filters }
    for (const [pattern, filter] of Object.entries(own)) {
      const argument = pattern.replace('*', name)
      refuseTaken(argument, name, filters.get(argument)?.of)
      filters.set(argument, { filter, column, of: name })
    }
  }
  return filters
}

/** @param other the field that has a filter of this name already */
function refuseTaken(argument: string, field: string, other: string | undefined): void {
  if (other === undefined && !reserved.has(argument)) return
  const taken =
    other === undefined
      ? `The field ${field} has the filter ${argument}, which would hide the argument ${argument} of every list`
      : `The fields ${other} and ${field} both have the filter ${argument}`
  throw new Error(
    `${taken}: give ${other === undefined ? 'it' : 'one of them'} \`filters\` of another name, or \`filters: {}\` for none.`,
  )
}

/** What is wrong with the filters that were sent, beyond their schemas. */
export function filterProblems(filters: Filters, args: Arguments, settings: Settings): Problems {
  const problems: Problems = {}
  for (const [name, { filter }] of filters) {
    const problem = args[name] === undefined ? undefined : filter.problem?.(args[name], settings)
    if (problem !== undefined) problems[name] = problem
  }
  return problems
}

/** An empty list of values is not a filter. */
const isGiven = (value: unknown) => value !== undefined && !(Array.isArray(value) && value.length === 0)

/**
 * The arguments that narrow a list in stored form: amounts in units, times in seconds, and so on.
 * @param idName the argument that holds identifiers, such as `payout_id`
 * @param args which passed their schemas and `filterProblems`
 */
export function criteriaOf(idName: string, filters: Filters, args: Arguments, settings: Settings): Criteria {
  const criteria: Record<string, unknown> = {}
  if (isGiven(args[idName])) criteria.ids = args[idName]
  if (isGiven(args.exclude)) criteria.exclude = args.exclude
  if (args.updated_since !== undefined) criteria.updated = parseMoment(args.updated_since as string)!.first
  const search = ((args.search as string | undefined) ?? '').trim()
  if (search !== '') criteria.search = parseSearch(search)
  for (const [name, { filter }] of filters) {
    if (isGiven(args[name])) criteria[name] = filter.keep(args[name], settings, args, name)
  }
  return criteria
}

/** Whether they say which records are meant, and not only which are not: ranges without bounds do not. */
export const isSelective = ({ exclude: _, ...criteria }: Criteria): boolean =>
  Object.values(criteria).some(value => !(isObject(value) && Object.keys(value).length === 0))
