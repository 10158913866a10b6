import { Failure } from '../../base/errors.ts'

/** @param message what the caller can do about it */
export const conflict = (message: string, data: Record<string, unknown> = {}) =>
  new Failure('run_conflict', { message, data })
