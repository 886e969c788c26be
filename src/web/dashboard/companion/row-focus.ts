/** Moves the focus to where typing continues, in lists of fields that grow and shrink. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** `list` goes on the list; `focusRow` gives the focus to the first field of the row at the index, once it is drawn. */
export function useRowFocus() {
  const list = useRef<HTMLUListElement>(null);
  const [wanted, setWanted] = useState<{ index: number } | null>(null);
  useLayoutEffect(() => {
    if (wanted !== null) list.current?.children[wanted.index]?.querySelector("input")?.focus();
  }, [wanted]);
  return { list, focusRow: (index: number) => setWanted({ index }) };
}
