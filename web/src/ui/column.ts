import type { ReactNode } from 'react'

export interface Column<R> {
  label: string
  /** What it is sorted by; a column without can't be sorted. */
  sort?: string
  cell: (record: R) => ReactNode
  /** Figures stand under each other, digit by digit. */
  figures?: boolean
  /** In pixels; without it a column is as wide as its longest word. */
  minWidth?: number
  /** More only where there is room. */
  maxWidth?: number
  /** Where it stands on a card: the line, and the end of it. A column without is left out of cards. */
  card?: `${1 | 2 | 3} ${'left' | 'right'}`
  /** Left out of narrower windows: what matters less gives way to what matters more. */
  wideOnly?: boolean
}

/** How a list is sorted by a column at first: figures from the highest, everything else from A to Z. */
export function firstOrder<R>({ figures }: Column<R>): 'ASC' | 'DESC' {
  return figures ? 'DESC' : 'ASC'
}
