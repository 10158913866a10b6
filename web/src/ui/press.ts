/** Who presses twice, from habit or since nothing seemed to happen, means the first thing and not what has taken its place. */
import { useEffect } from 'react'

/** What follows a press so soon in the same place is its second half. */
const SECOND_PRESS_MS = 500

/** What a press acts on; of a label, its field. */
const PRESSED =
  'a, button, input, textarea, li, tr, [role=button], [role=combobox], [role=option], [role=tab]'

/** What acts when the pointer comes up. */
const BUTTON = 'a, button, [role=button]'

/** How far a hand moves that holds still. */
const STILL_PX = 10

/** What takes a blank as text. */
const TEXT = 'textarea, input:not([type=checkbox], [type=radio])'

/** Where there is nothing to press, a blank turns the page. */
const isPressedByBlank = (target: EventTarget | null) =>
  target instanceof Element && !target.matches(TEXT) && target.closest(PRESSED) !== null

function isPress({ key, isComposing, target }: KeyboardEvent): boolean {
  return !isComposing && (key === 'Enter' || (key === ' ' && isPressedByBlank(target)))
}

/** The dialog that a press is in. */
const dialogOf = (target: EventTarget | null) =>
  target instanceof Element ? target.closest('[role=dialog], [role=alertdialog]') : null

const isHeldFor = ({ repeat, target }: KeyboardEvent) => repeat && !(target instanceof HTMLTextAreaElement)

const pressedBy = ({ target }: Event) =>
  target instanceof Element ? (target.closest('label') ?? target.closest(PRESSED)) : null

/** Where the pointer went down, on what, and where that was. */
interface Down {
  readonly x: number
  readonly y: number
  readonly pressed: HTMLElement
  readonly at: DOMRect
}

function downOn({ target, clientX: x, clientY: y }: PointerEvent): Down | undefined {
  const pressed = target instanceof Element ? target.closest<HTMLElement>(BUTTON) : null
  return pressed ? { x, y, pressed, at: pressed.getBoundingClientRect() } : undefined
}

/**
 * What the pointer went down on if it came up beside it because that has jumped, as when a line above it comes or goes. The
 * browser clicks what contains both then, which is nothing to press.
 */
function jumpedAway(
  { target, clientX, clientY }: MouseEvent,
  down: Down | undefined,
): HTMLElement | undefined {
  if (!down || !(target instanceof Element)) return undefined
  const { x, y, pressed, at } = down
  const now = pressed.getBoundingClientRect()
  const hasJumped = now.x !== at.x || now.y !== at.y
  const isStill = Math.hypot(clientX - x, clientY - y) <= STILL_PX
  return hasJumped && isStill && target !== pressed && target.contains(pressed) ? pressed : undefined
}

function drop(event: Event): void {
  event.preventDefault()
  event.stopImmediatePropagation()
}

/**
 * Drops the second press of Enter in a dialog that the first has opened; what a key does that is held; and the second click of
 * a double click on something else than the first. Presses what has jumped away below a press.
 */
export function useSinglePresses(): void {
  useEffect(() => {
    let byKey: { dialog: Element | null; at: number } | undefined
    let byPointer: Element | null = null
    let down: Down | undefined
    const press = (event: KeyboardEvent) => {
      const { timeStamp: at } = event
      const dialog = dialogOf(event.target)
      // Whoever presses another key in between has moved the focus, or typed.
      if (!isPress(event)) byKey = undefined
      else if (isHeldFor(event)) drop(event)
      else if (byKey && dialog && dialog !== byKey.dialog && at - byKey.at < SECOND_PRESS_MS) drop(event)
      else byKey = { dialog, at }
    }
    const point = (event: PointerEvent) => {
      byKey = undefined
      down = downOn(event)
    }
    const dropSecond = (event: MouseEvent) => {
      if (event.detail > 1 && pressedBy(event) !== byPointer) drop(event)
    }
    const click = (event: MouseEvent) => {
      // By key or by a script, it has no number.
      if (event.detail !== 1) return dropSecond(event)
      const missed = jumpedAway(event, down)
      byPointer = missed ?? pressedBy(event)
      if (!missed) return
      drop(event)
      missed.click()
    }
    addEventListener('keydown', press, true)
    addEventListener('pointerdown', point, true)
    // Some fields open when the pointer goes down.
    addEventListener('mousedown', dropSecond, true)
    addEventListener('click', click, true)
    return () => {
      removeEventListener('keydown', press, true)
      removeEventListener('pointerdown', point, true)
      removeEventListener('mousedown', dropSecond, true)
      removeEventListener('click', click, true)
    }
  }, [])
}
