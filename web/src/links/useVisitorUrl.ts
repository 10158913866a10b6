import { useSession } from '../session.tsx'

/** Where visitors reach the service: as this area, unless the settings say otherwise. */
export const useVisitorUrl = (): string =>
  (useSession().settings.visitor_url || location.origin).replace(/\/+$/, '')
