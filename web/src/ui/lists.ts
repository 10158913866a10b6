/** Lists as they were left: who comes back from a record finds the filters, the order and the page again. */
import { useEffect } from 'react'
import { useLocation, useNavigate } from 'react-router-dom'

const leftAt = new Map<string, string>()

/** Remembers the list that is shown. */
export function useRememberedList(): void {
  const { pathname, search } = useLocation()
  useEffect(() => {
    leftAt.set(pathname, search)
  }, [pathname, search])
}

/** The place in the browser's history at which this visit began. */
let entry = 0

const place = () => {
  const state: { idx?: number } | null = history.state
  return state?.idx ?? 0
}

/** Remembers where the visit began: what lies before it is not of this area, or is the login page. */
export function useEntry(): void {
  useEffect(() => {
    entry = place()
  }, [])
}

/** Leads back to where one came from; to `path`, when that was not a page of this visit. */
export function useGoBack(path: string): () => void {
  const navigate = useNavigate()
  return () => (place() > entry ? navigate(-1) : navigate(listAt(path)))
}

/** @param path such as '/payouts' @returns it, as it was left */
export function listAt(path: string): string {
  return `${path}${leftAt.get(path) ?? ''}`
}
