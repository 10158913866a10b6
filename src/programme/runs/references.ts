/**
 * What a run, its files and its payments are called at banks. Two installations that pay from one account must not use the
 * same words: the bank would take the second file for a repetition, and results of one could be read into the other.
 */
import { randomInt } from 'node:crypto'
import type { Run } from './run.ts'

/** Without A, which stands before the affiliate, and without other vowels, so that no word comes of it. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
const DRAWN = 4

type Named = Pick<Run, 'id' | 'reference'>

/** @returns for example 'R12KQXT' */
export function newRunReference(id: number): string {
  return `R${id}${Array.from({ length: DRAWN }, () => LETTERS[randomInt(LETTERS.length)]).join('')}`
}

/** Of runs from before there were drawn letters, and where a format has no room for them. */
export const shortReferenceOf = (id: number) => `R${id}`

const PAYMENT = /^R(\d{1,15})(?:[B-Z]{4})?A(\d{1,15})$/

/** @returns undefined when it is no reference of a payment of a payout run */
export function parseReference(text: string): { runId: number; affiliateId: number } | undefined {
  const [, runId, affiliateId] = PAYMENT.exec(canonical(text)) ?? []
  return runId === undefined ? undefined : { runId: Number(runId), affiliateId: Number(affiliateId) }
}

/** A reference in the form in which it is compared: banks may change its case, and add blanks. */
export const canonical = (text: string) => text.trim().toUpperCase()

/** Whether its letters were drawn: files of older runs are written as they were. */
export const isDrawn = ({ id, reference }: Named) => reference !== shortReferenceOf(id)

/** Of a file: for example 'R12KQXT-1'. */
export function fileReferenceOf(run: Named, part: number): string {
  return `${isDrawn(run) ? run.reference : `RUN-${run.id}`}-${part}`
}

const FILE = /^(?:RUN-(\d{1,15})|R(\d{1,15})[B-Z]{4})-(\d+)$/

/** @returns undefined when it is no file of a payout run */
export function parseFileReference(text: string): { runId: number; part: number } | undefined {
  const [, old, runId = old, part] = FILE.exec(canonical(text)) ?? []
  return runId === undefined ? undefined : { runId: Number(runId), part: Number(part) }
}

const RUN = /^R(\d{1,15})[B-Z]{4}$/

/** The identifier of the run that a reference of it, of one of its files or of one of its payments is about. */
export function runIdIn(text: string): number | undefined {
  const id = RUN.exec(canonical(text))?.[1]
  return id === undefined ? (parseReference(text) ?? parseFileReference(text))?.runId : Number(id)
}
