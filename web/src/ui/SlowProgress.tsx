import { LinearProgress } from '@mui/material'
import { useEffect, useState } from 'react'
import { useLoading } from 'react-admin'

/** Shorter loading times show no progress bar. */
const SLOW_MS = 700

/** A progress bar at the top of the window while something loads for long. */
export function SlowProgress() {
  const isLoading = useLoading()
  const [slow, setSlow] = useState(false)
  useEffect(() => {
    if (!isLoading) return setSlow(false)
    const timer = setTimeout(() => setSlow(true), SLOW_MS)
    return () => clearTimeout(timer)
  }, [isLoading])
  if (!slow) return null
  return (
    <LinearProgress
      aria-label="Loading"
      sx={{ position: 'fixed', top: 0, left: 0, right: 0, height: 3, zIndex: 'tooltip' }}
    />
  )
}
