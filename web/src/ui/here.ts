import { useEffect, useRef } from 'react'

/** @returns whether what asks is still on the page: an answer that comes later takes nobody away from where they went */
export function useIsHere(): () => boolean {
  const here = useRef(false)
  useEffect(() => {
    here.current = true
    return () => {
      here.current = false
    }
  }, [])
  return () => here.current
}
