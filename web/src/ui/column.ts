import type { ReactNode } from 'react'

export interface Column<R> {
  label: string
  /** API field to sort by; without it the column cannot be sorted. */
  sort?: string
  cell: (record: R) => ReactNode
  /** Right-aligned, with tabular digits. */
  figures?: boolean
  /** In pixels; without it a column is as wide as its longest word. */
  minWidth?: number
  /** In pixels; exceeded only where there is room. */
  maxWidth?: number
  /** Position on a card: the line, and the end of it. Columns without one are not on cards. */
  card?: `${1 | 2 | 3} ${'left' | 'right'}`
  /** Hidden on narrow screens. */
  wideOnly?: boolean
}

/** Initial sort direction of a column: figures from the highest, everything else from A to Z. */
export function firstOrder<R>({ figures }: Column<R>): 'ASC' | 'DESC' {
  return figures ? 'DESC' : 'ASC'
}
