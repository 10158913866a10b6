import { createContext, useContext, useEffect } from 'react'

/**
 * Tells the list that a question is asked in one of its rows: shown in another form, on a screen that is turned, the row
 * would be a new one, without the question and what was typed.
 */
export const AskingInRow = createContext<(isAsking: boolean) => void>(() => {})

/** @param open whether the question is asked */
export function useAskingInRow(open: boolean): void {
  const tellList = useContext(AskingInRow)
  useEffect(() => {
    if (!open) return
    tellList(true)
    return () => tellList(false)
  }, [open, tellList])
}

/**
 * Closes a dialog on Escape and by its buttons only: the second click of a double click lands on the backdrop, and would
 * close the dialog before anyone has read it.
 */
export const exceptByBackdrop =
  (close: () => void) =>
  (_event: unknown, reason: 'backdropClick' | 'escapeKeyDown'): void => {
    if (reason !== 'backdropClick') close()
  }
