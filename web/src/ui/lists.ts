/** Returns to lists as they were left, with filters, order and page. */
import { useEffect, useRef } from 'react'
import { useLocation, useNavigate } from 'react-router-dom'

const leftAt = new Map<string, string>()

/** Remembers the query string of the current list. */
export function useRememberedList(): void {
  const { pathname, search } = useLocation()
  useEffect(() => {
    leftAt.set(pathname, search)
  }, [pathname, search])
}

/** Position in the browser history at which this visit began. */
let entry = 0

/** Position in the browser history. */
export const place = () => {
  const state: { idx?: number } | null = history.state
  return state?.idx ?? 0
}

/** Remembers where this visit began: earlier entries are other sites, or the login page. */
export function useEntry(): void {
  useEffect(() => {
    entry = place()
  }, [])
}

/** The browser goes back some time after it is asked to: what asks again so soon is the same double click. */
const DOUBLE_CLICK_MS = 500

/** Goes back to the previous page of this visit; to `path` when there is none. */
export function useGoBack(path: string): () => void {
  const navigate = useNavigate()
  const went = useRef(Number.NEGATIVE_INFINITY)
  return () => {
    if (performance.now() - went.current < DOUBLE_CLICK_MS) return
    went.current = performance.now()
    if (place() > entry) navigate(-1)
    else navigate(listAt(path))
  }
}

/** @param path such as '/payouts' @returns the path with the query string the list was left with */
export function listAt(path: string): string {
  return `${path}${leftAt.get(path) ?? ''}`
}
