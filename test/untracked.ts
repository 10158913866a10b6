/**
 * Node's test runner follows each promise of the process, to know of which test an error was that nobody has caught. That
 * takes about a tenth of the time of tests that ask a service for much. Without it, such an error fails the file.
 */
import { type AsyncHook, createHook } from 'node:async_hooks'

const example = createHook({ trackPromises: false })
const untracked = Object.getOwnPropertySymbols(example).find(
  ({ description }) => description === 'kNoPromiseHook',
)
const hooks: AsyncHook & Record<symbol, boolean> = Object.getPrototypeOf(example)
const { enable } = hooks
// The first hook of a process of tests is the runner's, which enables it with the first test that a file declares.
hooks.enable = function (this: typeof hooks) {
  hooks.enable = enable
  if (untracked) this[untracked] = true
  return enable.call(this)
}
