/** The session: the signed-in user, permissions and the settings that every page needs. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useEffect } from 'react'
import { type AuthProvider, HttpError } from 'react-admin'
import type { SessionRecord } from '../../src/accounts/sessions/schema.ts'
import { envelopeOf, get, request } from './api.ts'

/** The complete session; the answer to logging in has only part of it. */
export type Session = Required<SessionRecord>

/**
 * Scripts cannot read the session cookie: this mark in local storage, with whose session it is, tells an expired one from
 * a first visit, and other tabs that somebody else has logged in.
 */
const MARK = 'affiliated.session'

/** Why the login page is shown. */
export const greeting: { kind?: 'ended' | 'first_visit'; recovers?: boolean } = {}

export interface Credentials {
  login: string
  password: string
  /** Second-factor code, when the server asks for one. */
  code?: string
}

export async function logIn({ login, password, code }: Credentials): Promise<number> {
  const { body } = await request<{ user: { id: number } }>('POST', 'session', {
    body: { login, password, ...(code && { code }) },
    anonymous: true,
  })
  delete greeting.kind
  wasThere = true
  // Other tabs hear of changes only, and the session before may have been of the same user.
  localStorage.removeItem(MARK)
  localStorage.setItem(MARK, String(body.user.id))
  return body.user.id
}

/**
 * @param listener called when another tab logs in or out
 * @returns what ends that
 */
export function onOtherTab(listener: (userId: number | undefined) => void): () => void {
  const heard = ({ key, newValue }: StorageEvent) => {
    if (key === MARK) listener(newValue === null ? undefined : Number(newValue))
  }
  window.addEventListener('storage', heard)
  return () => window.removeEventListener('storage', heard)
}

/** Once there was a session, failing calls report its end (see api.ts), so checkAuth need not ask the server. */
let wasThere = false

export const authProvider: AuthProvider = {
  login: (credentials: Credentials) => logIn(credentials),
  logout: async () => {
    if (!wasThere) return
    wasThere = false
    localStorage.removeItem(MARK)
    await request('DELETE', 'session', { anonymous: true }).catch(() => {})
  },
  checkAuth: async () => {
    if (wasThere) return
    try {
      const { user } = await get<SessionRecord>('session', { anonymous: true })
      wasThere = true
      localStorage.setItem(MARK, String(user.id))
    } catch (error) {
      const { data } = envelopeOf(error)
      // A server that does not answer says nothing about the session.
      if (!(error instanceof HttpError) || error.status !== 401) return
      greeting.recovers = data?.recovers === true
      if (data?.first_visit) greeting.kind = 'first_visit'
      else if (localStorage.getItem(MARK)) greeting.kind = 'ended'
      throw Object.assign(new Error('Log in'), { message: false })
    }
  },
  checkError: async () => {},
  getPermissions: async () => undefined,
}

const SessionContext = createContext<Session | undefined>(undefined)

export function useSession(): Session {
  const session = useContext(SessionContext)
  if (!session) throw new Error('useSession needs a SessionProvider')
  return session
}

const sessionQuery = { queryKey: ['session'], queryFn: () => get<Session>('session') }

/** The same, read again when what shows it opens: for settings that somebody else may have changed since. */
export function useLatestSession(): Session {
  const session = useSession()
  return useQuery({ ...sessionQuery, refetchOnMount: 'always' }).data ?? session
}

/** The permission's own name: resources may come in the spelling of their paths. */
export const permissionNamed = (permission: string) => permission.replaceAll('-', '_')

/** Permission check, for example 'payouts.create'. Accepts resources in the spelling of their paths ('payout-runs'). */
export function useCan(): (permission: string) => boolean {
  const { granted } = useSession()
  return permission => granted.includes(permissionNamed(permission))
}

export function SessionProvider({
  children,
  loading,
  failed,
}: {
  children: ReactNode
  loading: ReactNode
  failed: (error: Error, retry: () => void) => ReactNode
}) {
  const queryClient = useQueryClient()
  const { data, error, refetch } = useQuery(sessionQuery)
  useEffect(() => onOtherTab(() => void queryClient.invalidateQueries()), [queryClient])
  if (data) return <SessionContext.Provider value={data}>{children}</SessionContext.Provider>
  return error ? failed(error, () => refetch()) : loading
}
