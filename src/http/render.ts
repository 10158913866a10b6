import build from 'fast-json-stringify'
import type { TObject } from 'typebox'

export type Render<T extends object> = (value: T) => string

/** Compiles a schema, on first use, into a JSON serialiser that writes the fields in the schema's order. */
export function renderer<T extends object>(schema: TObject): Render<T> {
  let render: Render<T> | undefined
  return value => {
    render ??= build({ ...schema })
    return render(value)
  }
}
