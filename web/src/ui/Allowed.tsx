import type { ReactNode } from 'react'
import { useCan } from '../session.tsx'

/** Renders its children only with the given permission. The server enforces it in any case. */
export function Allowed({ to, children }: { to: string; children: ReactNode }) {
  return useCan()(to) ? children : null
}
