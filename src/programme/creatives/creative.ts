/** The kind creative: a banner, a text or a page that affiliates link with. */
import { Type } from 'typebox'
import { line } from '../../base/schemas.ts'
import { kind, type TableOf } from '../../records/kind.ts'
import { dated, paragraphs, status, text, webAddress } from '../../records/kinds-of-field.ts'
import { neither } from '../../storage/table.ts'

const fields = {
  name: {
    ...text(190, 'Names the creative.', neither),
    create: Type.Optional(Type.String({ ...line(190, 'Names the creative.'), default: 'Creative' })),
    initial: 'Creative',
  },
  description: paragraphs(65_535, 'What it is for.', neither),
  url: webAddress('The page that it leads to.'),
  text: paragraphs(65_535, 'The text of the link.', neither),
  image: webAddress('Where its image is.'),
  status: status(['active', 'inactive'], 'active'),
  date: dated('created_at', 'When it was made'),
} as const

export const creative = kind({ name: 'creative', table: 'creatives', fields, idLast: true })

interface CreativesTable extends TableOf<typeof fields> {}

declare module '../../storage/tables.ts' {
  interface Tables {
    creatives: CreativesTable
  }
}
