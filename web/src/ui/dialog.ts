/**
 * Closes a dialog on Escape and by its buttons only: the second click of a double click lands on the backdrop, and would
 * close the dialog before anyone has read it.
 */
export const exceptByBackdrop =
  (close: () => void) =>
  (_event: unknown, reason: 'backdropClick' | 'escapeKeyDown'): void => {
    if (reason !== 'backdropClick') close()
  }
