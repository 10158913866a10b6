/**
 * Loaded before any test. Node's test runner follows each promise, so that it can tell which test an error belongs to that
 * nobody catches. A service that runs in the process of its tests makes millions of promises, and following them took a
 * tenth of the processor time of all tests. Such an error fails the file all the same.
 */
import hooks from 'node:async_hooks'

const { createHook } = hooks

hooks.createHook = callbacks => createHook({ ...callbacks, trackPromises: false })
