/** Lists as they were left: who comes back from a record finds the filters, the order and the page again. */
import { useEffect } from 'react'
import { useLocation } from 'react-router-dom'

const left = new Map<string, string>()

/** Remembers the list that is shown. */
export function useRememberedList(): void {
  const { pathname, search } = useLocation()
  useEffect(() => {
    left.set(pathname, search)
  }, [pathname, search])
}

/** @param path such as '/payouts' @returns it, as it was left */
export function listAt(path: string): string {
  return `${path}${left.get(path) ?? ''}`
}
