import { useState } from 'react'
import { Notification, useNotificationContext } from 'react-admin'

/**
 * Shows a new message at once. By itself, react-admin first shows the one before for all of its four seconds, such as
 * "approved" after Undo.
 */
export function LatestMessage() {
  const { notifications } = useNotificationContext()
  const latest = notifications.at(-1)
  const [shown, setShown] = useState({ latest, count: 0 })
  if (latest && latest !== shown.latest) setShown({ latest, count: shown.count + 1 })
  return <Notification key={shown.count} />
}
