/** The kind creative: a banner, a text or a page that affiliates link with. */
import { Type } from 'typebox'
import { line, withDefault } from '../../base/schemas.ts'
import { kind, type TableOf } from '../../records/kind.ts'
import { dated, paragraphs, status, text, webAddress } from '../../records/kinds-of-field.ts'
import { neither } from '../../storage/table.ts'

const fields = {
  name: {
    ...text(190, 'Name of the creative.', neither),
    create: Type.Optional(withDefault(line(190, 'Name of the creative.'), 'Creative')),
    initial: 'Creative',
  },
  description: paragraphs(65_535, 'What it is for.', neither),
  url: webAddress('URL of the page that it leads to.'),
  text: paragraphs(65_535, 'Text of the link.', neither),
  image: webAddress('URL of its image.'),
  status: status(['active', 'inactive'], 'active'),
  date: dated('created_at', 'When the creative was created'),
} as const

export const creative = kind({ name: 'creative', table: 'creatives', fields, idLast: true })

interface CreativesTable extends TableOf<typeof fields> {}

declare module '../../storage/tables.ts' {
  interface Tables {
    creatives: CreativesTable
  }
}
