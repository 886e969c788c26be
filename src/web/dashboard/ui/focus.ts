/** Where the focus goes when the focused element is gone, or a list of fields grows or shrinks. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";

export function giveFocusTo(wanted: Element | null): void {
  if (wanted instanceof HTMLElement) wanted.focus();
  // The element was removed or disabled, or nothing had the focus.
  if (wanted === document.body || document.activeElement !== wanted) focusPage();
}

/** The page as a whole: the next Tab leads to its first link or field. */
export function focusPage(): void {
  document.querySelector<HTMLElement>("#main")?.focus({ preventScroll: true });
}

/**
 * `list` goes on the list; `focusRow` gives the focus to the first field of the row at the index, once it is drawn.
 */
export function useRowFocus() {
  const list = useRef<HTMLUListElement>(null);
  const [wanted, setWanted] = useState<{ index: number } | null>(null);
  useLayoutEffect(() => {
    if (wanted !== null) list.current?.children[wanted.index]?.querySelector("input")?.focus();
  }, [wanted]);
  return { list, focusRow: (index: number) => setWanted({ index }) };
}
