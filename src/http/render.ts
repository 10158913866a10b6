import build from 'fast-json-stringify'
import type { TObject } from 'typebox'

export type Render<T extends object> = (value: T) => string

/** Compiles a schema, at the first use, into a function that writes such a value as JSON, its fields in the schema's order. */
export function renderer<T extends object>(schema: TObject): Render<T> {
  let render: Render<T> | undefined
  return value => {
    render ??= build({ ...schema })
    return render(value)
  }
}
