/** Where a table is named that another folder owns, found in the syntax of the sources. */
import { parseSync } from 'vite'

interface Node {
  readonly type: string
  readonly [name: string]: unknown
}

/** Of queries and of what stands for one: their texts may name tables. */
const naming =
  /^(?:selectFrom|insertInto|updateTable|deleteFrom|mergeInto|from|using|\w+Join|\w*Identity|table|ref)$/
const inSql = /\b(?:FROM|JOIN|INTO|UPDATE|TABLE)\s+"?(\w+)|\b(\w+)\.\w+/g

/**
 * @param tables names that count
 * @returns those that queries, templates of SQL and comparisons of names mention
 */
export function tablesNamed(path: string, text: string, tables: ReadonlySet<string>): Set<string> {
  const named = new Set<string>()
  const note = (name: string | undefined) => {
    if (name !== undefined && tables.has(name)) named.add(name)
  }
  const visit = (value: unknown): void => {
    if (isNode(value)) for (const name of namesIn(value)) note(name)
    if (typeof value === 'object' && value !== null) Object.values(value).forEach(visit)
  }
  visit(parseSync(path, text).program)
  return named
}

function namesIn(node: Node): (string | undefined)[] {
  if (node.type === 'CallExpression' && naming.test(nameOf(node.callee) ?? '')) {
    return (node.arguments as Node[]).map(textOf).map(tableOf)
  }
  if (node.type === 'BinaryExpression' && /^(?:name|table)$/.test(nameOf(node.left) ?? '')) {
    return [tableOf(textOf(node.right as Node))]
  }
  if (node.type === 'TaggedTemplateExpression' && nameOf(node.tag)?.startsWith('sql')) {
    const { quasis } = node.quasi as { quasis: { value: { raw: string } }[] }
    return quasis.flatMap(({ value }) =>
      [...value.raw.matchAll(inSql)].map(([, table, ofColumn]) => table ?? ofColumn),
    )
  }
  return []
}

/** 'payouts', 'payouts as paid' and 'payouts.id' name the same. */
const tableOf = (text: string | undefined) => /^(\w+)(?: as \w+|\.\w+)?$/.exec(text ?? '')?.[1]

const textOf = (node: Node) => (typeof node.value === 'string' ? node.value : undefined)

/** Of what is called or read: `query.selectFrom` is 'selectFrom'. */
function nameOf(value: unknown): string | undefined {
  if (!isNode(value)) return undefined
  if (value.type === 'TSInstantiationExpression') return nameOf(value.expression)
  if (value.type === 'ChainExpression') return nameOf(value.expression)
  if (value.type === 'MemberExpression') return nameOf(value.property)
  return value.type === 'Identifier' ? (value.name as string) : undefined
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value
}
