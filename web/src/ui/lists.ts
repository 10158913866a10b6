/** Returns to lists as they were left, with filters, order and page. */
import { useEffect } from 'react'
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

const place = () => {
  const state: { idx?: number } | null = history.state
  return state?.idx ?? 0
}

/** Remembers where this visit began: earlier entries are other sites, or the login page. */
export function useEntry(): void {
  useEffect(() => {
    entry = place()
  }, [])
}

/** Goes back to the previous page of this visit; to `path` when there is none. */
export function useGoBack(path: string): () => void {
  const navigate = useNavigate()
  return () => (place() > entry ? navigate(-1) : navigate(listAt(path)))
}

/** @param path such as '/payouts' @returns the path with the query string the list was left with */
export function listAt(path: string): string {
  return `${path}${leftAt.get(path) ?? ''}`
}
