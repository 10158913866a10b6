import type { ReactNode } from 'react'
import { useCan } from '../session.tsx'

/** What only those are offered who may do it; the server refuses the others in any case. */
export function Allowed({ to, children }: { to: string; children: ReactNode }) {
  return useCan()(to) ? children : null
}
