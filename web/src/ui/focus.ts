/** Where the keyboard, and a screen reader, go on when what had the focus is gone. */
import { useEffect } from 'react'

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
    const observer = new MutationObserver(() => {
      const heading = isLost() && document.querySelector<HTMLElement>('main h1')
      if (!heading) return
      heading.tabIndex = -1
      heading.focus({ preventScroll: true })
    })
    document.addEventListener('focusin', remember)
    observer.observe(document.body, { childList: true, subtree: true })
    return () => {
      document.removeEventListener('focusin', remember)
      observer.disconnect()
    }
  }, [])
}
