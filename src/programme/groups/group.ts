/** The kind group: affiliates that share commission rules. */
import { Type } from 'typebox'
import { line, listOf } from '../../base/schemas.ts'
import { type CrudAction, kind, type TableOf } from '../../records/kind.ts'
import { created, inAnyCase, paragraphs, text } from '../../records/kinds-of-field.ts'
import { neither } from '../../storage/table.ts'

const description = 'Name of the group; unique, ignoring case.'

const fields = {
  name: {
    ...text(100, description, neither),
    isName: false,
    filter: inAnyCase(listOf(line(100), 'Only groups with one of these names.')),
    create: line(100, description),
    edit: Type.Optional(line(100, 'New name.')),
    problem: (value: string) => (value.trim() === '' ? 'must name the group.' : undefined),
    sample: ({ random }: { random: () => number }) => `Group ${random().toString(36).slice(2, 8)}`,
  },
  description: paragraphs(65_535, 'Who belongs to it, and why.', neither),
  date: created('created_at', 'When the group was created'),
} as const

export const group = kind({ name: 'group', table: 'groups', fields })

interface GroupsTable extends TableOf<typeof fields> {}

declare module '../../storage/tables.ts' {
  interface Tables {
    groups: GroupsTable
  }
}

declare module '../../events/schema.ts' {
  interface Actions {
    group: CrudAction
  }
}
