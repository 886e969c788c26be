/** Where the focus goes when the focused element is gone: without it, a screen reader starts again at the top. */

export function giveFocusTo(wanted: Element | null): void {
  if (wanted instanceof HTMLElement) wanted.focus();
  // The element was removed or disabled, or nothing had the focus.
  if (wanted === document.body || document.activeElement !== wanted) focusPage();
}

/** The page as a whole: the next Tab leads to its first link or field. */
export function focusPage(): void {
  document.querySelector<HTMLElement>("#main")?.focus({ preventScroll: true });
}
