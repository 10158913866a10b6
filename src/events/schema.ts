export const actorKinds = ['key', 'session', 'visitor', 'command line', 'service'] as const
export const recordKinds = ['affiliate', 'payout', 'user', 'key', 'settings', 'session'] as const

/** Everything that the log tells of. */
export const actions = [
  'affiliate.create',
  'affiliate.edit',
  'affiliate.delete',
  'payout.create',
  'payout.edit',
  'payout.delete',
  'user.create',
  'user.edit',
  'user.password',
  'user.erase',
  'key.create',
  'key.revoke',
  'settings.edit',
  'session.create',
  'session.refuse',
  'session.delete',
] as const

export type Action = (typeof actions)[number]
