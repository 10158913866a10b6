/** Progress on standard error: a bar on a terminal, otherwise a line every few seconds, and nothing for short tasks. */
import type { Terminal } from './command.ts'

const BAR_WIDTH = 30
const REDRAW_MS = 100
const LINE_EVERY_MS = 5000

/** @param total infinity if it is unknown before the end */
export type Progress = (done: number, total: number) => void

/** @param title such as 'payouts' */
export function showProgress({ stderr }: Terminal, title: string): { progress: Progress; end: () => void } {
  const isTerminal = stderr.isTTY ?? false
  const startedAt = performance.now()
  let shownAt = startedAt
  let isVisible = false
  const progress: Progress = (done, total) => {
    const now = performance.now()
    // A task that ends quickly prints nothing, to keep the mails of nightly jobs empty.
    const isLast = done >= total && (isTerminal || isVisible)
    if (now - shownAt < (isTerminal ? REDRAW_MS : LINE_EVERY_MS) && !isLast) return
    shownAt = now
    isVisible = true
    const text = `${title}: ${progressText(done, total, now - startedAt)}`
    if (!isTerminal) return void stderr.write(`${text}\n`)
    stderr.write(`\r\x1b[2K${barText(done, total)}${text}`)
  }
  return { progress, end: () => void (isTerminal && isVisible && stderr.write('\n')) }
}

/** Progress and estimated time, in words. */
export function progressText(done: number, total: number, elapsedMs: number): string {
  if (!Number.isFinite(total)) return `${count(done)}${timeText(0, elapsedMs)}`
  const fraction = fractionOf(done, total)
  return `${Math.floor(fraction * 100)} %, ${count(done)} of ${count(total)}${timeText(fraction, elapsedMs)}`
}

function barText(done: number, total: number): string {
  if (!Number.isFinite(total)) return ''
  const filledCells = Math.round(fractionOf(done, total) * BAR_WIDTH)
  return `[${'#'.repeat(filledCells)}${'-'.repeat(BAR_WIDTH - filledCells)}] `
}

const fractionOf = (done: number, total: number) => (total === 0 ? 1 : done / total)

const count = (number: number) => number.toLocaleString('en')

function timeText(part: number, elapsedMs: number): string {
  if (part === 0 || part === 1) return `, ${Math.round(elapsedMs / 1000)} s`
  return `, ${Math.round((elapsedMs * (1 - part)) / part / 1000)} s left`
}
