/** Where the focus goes when what had it is gone: without one, a screen reader starts again at the top of the window. */

export function giveFocusTo(wanted: Element | null): void {
  if (wanted instanceof HTMLElement) wanted.focus();
  // Gone by now, or disabled, or nothing had it.
  if (wanted === document.body || document.activeElement !== wanted) focusPage();
}

/** The page as a whole: the next Tab leads to its first link or field. */
export function focusPage(): void {
  document.querySelector<HTMLElement>("#main")?.focus({ preventScroll: true });
}
