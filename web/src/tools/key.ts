import type { RaRecord } from 'react-admin'
import type { KeyRecord } from '../../../src/accounts/keys/schema.ts'

export type ApiKey = KeyRecord & RaRecord<number>

export interface Matrix {
  resources: string[]
  actions: string[]
}

const ORDER = ['read', 'create', 'edit', 'delete']

/** @param allPermissions every permission there is, such as 'affiliates.read' */
export function matrixOf(allPermissions: string[]): Matrix {
  const pairs = allPermissions.map(permission => {
    const [resource = '', action = ''] = permission.split('.')
    return [resource, action] as const
  })
  return {
    resources: [...new Set(pairs.map(([resource]) => resource))],
    actions: [...new Set(pairs.map(([, action]) => action))].sort(
      (a, b) => ORDER.indexOf(a) - ORDER.indexOf(b),
    ),
  }
}

export const readOnly = (allPermissions: string[]) =>
  allPermissions.filter(permission => permission.endsWith('.read'))

/** 'Full access', 'Read-only', or the actions by resource. */
export function permissionsText(permissions: string[], allPermissions: string[]): string {
  if (allPermissions.every(permission => permissions.includes(permission))) return 'Full access'
  const reading = readOnly(allPermissions)
  if (permissions.length === reading.length && reading.every(permission => permissions.includes(permission)))
    return 'Read-only'
  const { resources, actions } = matrixOf(permissions)
  return resources
    .map(
      resource =>
        `${resource}: ${actions.filter(action => permissions.includes(`${resource}.${action}`)).join(', ')}`,
    )
    .join('; ')
}
