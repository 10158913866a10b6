/**
 * What a dialog that is opened by a press closes by: Escape and its buttons. The second half of a double click lands
 * beside it, and would close it before it was read.
 */
export const exceptByBackdrop =
  (close: () => void) =>
  (_event: unknown, reason: 'backdropClick' | 'escapeKeyDown'): void => {
    if (reason !== 'backdropClick') close()
  }
