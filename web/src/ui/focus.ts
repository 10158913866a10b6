/** Where the keyboard, and a screen reader, go on when what had the focus is gone. */
import { useEffect, useLayoutEffect, useRef } from 'react'
import { useLocation, useNavigationType } from 'react-router-dom'

/** Whatever knows a better place for the focus takes it first. */
const SETTLED_MS = 100

/**
 * Moves the focus to the heading of the page when what had it was removed: a button whose action is done, a link to
 * another page. Without this it would go on at the top of the document.
 */
export function useKeptFocus(): void {
  useEffect(() => {
    let last: EventTarget | null = null
    const remember = ({ target }: FocusEvent) => {
      last = target
    }
    const isLost = () =>
      document.activeElement === document.body && last instanceof Element && !last.isConnected
    const regain = () => {
      const heading = isLost() && document.querySelector<HTMLElement>('main h1')
      if (!heading) return
      heading.tabIndex = -1
      heading.focus({ preventScroll: true })
    }
    let timer: ReturnType<typeof setTimeout> | undefined
    const observer = new MutationObserver(() => {
      if (!isLost()) return
      clearTimeout(timer)
      timer = setTimeout(regain, SETTLED_MS)
    })
    document.addEventListener('focusin', remember)
    observer.observe(document.body, { childList: true, subtree: true })
    return () => {
      document.removeEventListener('focusin', remember)
      observer.disconnect()
      clearTimeout(timer)
    }
  }, [])
}

/**
 * A page starts at its top, also where it is there at once, and as long as the one before. One that somebody goes back to
 * is where the browser left it.
 */
export function useStartAtTop(): void {
  const { pathname } = useLocation()
  const how = useNavigationType()
  const last = useRef(pathname)
  useLayoutEffect(() => {
    if (last.current === pathname) return
    last.current = pathname
    if (how !== 'POP') scrollTo(0, 0)
  }, [pathname, how])
}
