/** Who is logged in, and the settings that every page needs. */
import { useQuery } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext } from 'react'
import { type AuthProvider, HttpError } from 'react-admin'
import type { SessionRecord } from '../../src/accounts/sessions/schema.ts'
import { envelopeOf, get, request } from './api.ts'

/** As it is described to who has logged in; to log in is answered with less. */
export type Session = Required<SessionRecord>

/** Remembered beside the cookie, which a script can not see, to tell a session that ended from a first visit. */
const MARK = 'affiliated.session'

/** What the login page says, beside asking. */
export const greeting: { kind?: 'ended' | 'first_visit'; recovers?: boolean } = {}

export interface Credentials {
  login: string
  password: string
  /** Of the second factor, once it was asked for. */
  code?: string
}

export async function logIn({ login, password, code }: Credentials): Promise<number> {
  const { body } = await request<{ user: { id: number } }>('POST', 'session', {
    body: { login, password, ...(code && { code }) },
    anonymous: true,
  })
  delete greeting.kind
  wasThere = true
  localStorage.setItem(MARK, '1')
  return body.user.id
}

/** Once there was a session, it is the calls themselves that notice its end, and they lose nothing. */
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
      await get('session', { anonymous: true })
      wasThere = true
      localStorage.setItem(MARK, '1')
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
  if (!session) throw new Error('There is no session here')
  return session
}

/** Whether who is logged in has a permission, such as 'payouts.create'. Resources may be named as their paths are. */
export function useCan(): (permission: string) => boolean {
  const { granted } = useSession()
  return permission => granted.includes(permission.replaceAll('-', '_'))
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
  const { data, error, refetch } = useQuery({ queryKey: ['session'], queryFn: () => get<Session>('session') })
  if (data) return <SessionContext.Provider value={data}>{children}</SessionContext.Provider>
  return error ? failed(error, () => refetch()) : loading
}
