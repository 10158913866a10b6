/** Where the keyboard, and a screen reader, go on when what had the focus is gone. */
import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react'
import { useHref, useLocation, useNavigationType } from 'react-router-dom'
import { place } from './lists.ts'

/** Where somebody goes on when a part of it that had the focus is gone. */
const PLACE = '[data-rows], section[aria-label]'

/** Whatever knows a better place for the focus takes it first. */
const SETTLED_MS = 100

/** The page that each page was left for at last. */
const leftFor = new Map<string, string>()

/** The way back leads to what has taken the place of the record that a page was left for. */
export function replaceOnTheWayBack(address: string, by: string): void {
  for (const [page, left] of leftFor) if (left === address) leftFor.set(page, by)
}

/** @returns of a page that somebody comes back to, the address that they come from; nothing once they go on there */
function useWayBack(): RefObject<string | undefined> {
  const { pathname } = useLocation()
  const root = useHref('/').replace(/\/$/, '')
  const before = useRef({ pathname, at: place() })
  const wayBack = useRef<string>(undefined)
  useLayoutEffect(() => {
    const last = before.current
    before.current = { pathname, at: place() }
    if (last.pathname === pathname) return
    leftFor.set(last.pathname, pathname)
    const left = leftFor.get(pathname)
    const isBack = place() < last.at || left?.startsWith(`${pathname}/`)
    wayBack.current = left !== undefined && isBack ? root + left : undefined
  }, [pathname, root])
  useEffect(() => {
    const goOn = () => {
      wayBack.current = undefined
    }
    addEventListener('keydown', goOn)
    addEventListener('pointerdown', goOn)
    return () => {
      removeEventListener('keydown', goOn)
      removeEventListener('pointerdown', goOn)
    }
  }, [])
  return wayBack
}

function linkTo(address: string): HTMLAnchorElement | undefined {
  const links = document.querySelectorAll<HTMLAnchorElement>('main a[href]')
  return [...links].find(({ pathname }) => pathname === address)
}

/**
 * Moves the focus to the heading of the page when what had it was removed: a button whose action is done, a link to
 * another page; to the list, when it was in a row, and to the section, when it was in one: the heading may be out of sight
 * from there. Without this it would go on at the top of the document. On a page that
 * somebody comes back to, it goes on at the link that they left it by, such as that of a row, as soon as that is there.
 */
export function useKeptFocus(): void {
  const wayBack = useWayBack()
  useEffect(() => {
    let last: EventTarget | null = null
    let part: HTMLElement | null = null
    const remember = ({ target }: FocusEvent) => {
      last = target
      // The dialog that a row has opened is elsewhere.
      if (target instanceof Element && target.closest('main')) part = target.closest(PLACE)
    }
    const isLost = () =>
      document.activeElement === document.body && last instanceof Element && !last.isConnected
    const isComingBack = () =>
      wayBack.current !== undefined && document.activeElement?.matches('body, main h1') === true
    const regain = () => {
      const link = isComingBack() && linkTo(wayBack.current!)
      if (link) {
        wayBack.current = undefined
        return link.focus()
      }
      const place = part?.isConnected ? part : document.querySelector<HTMLElement>('main h1')
      if (!isLost() || !place) return
      place.tabIndex = -1
      place.focus({ preventScroll: true })
    }
    let timer: ReturnType<typeof setTimeout> | undefined
    const observer = new MutationObserver(() => {
      if (!isLost() && !isComingBack()) return
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
  }, [wayBack])
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
