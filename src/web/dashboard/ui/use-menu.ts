/** What menus share: they open from their button with the first item focused, and have the keys of menus. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";

export function useMenu() {
  const [isOpen, setIsOpen] = useState(false);
  const frame = useRef<HTMLDivElement>(null);
  const items = () => [...(frame.current?.querySelectorAll<HTMLElement>("[role^=menuitem]") ?? [])];
  const close = () => {
    setIsOpen(false);
    frame.current?.querySelector<HTMLElement>("[aria-haspopup]")?.focus();
  };

  // Before the next key is handled.
  useLayoutEffect(() => {
    if (!isOpen) return;
    items()[0]?.focus();
    const closeOutside = ({ target }: Event) => {
      if (target instanceof Node && !frame.current?.contains(target)) setIsOpen(false);
    };
    document.addEventListener("pointerdown", closeOutside);
    return () => document.removeEventListener("pointerdown", closeOutside);
  }, [isOpen]);

  function onKeyDown(event: KeyboardEvent): void {
    if (!isOpen) return;
    const all = items();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (event.key === "Tab") setIsOpen(false);
    if (event.key === "Escape") close();
    if (next !== undefined) all.at(next % all.length)?.focus();
    // The drawer, in which a menu stands on phones, stays open.
    if (next !== undefined || event.key === "Escape") event.preventDefault();
  }

  return {
    isOpen,
    /** With the focus on its button. */
    close,
    /** Of the element around the button and its menu. */
    frame: { ref: frame, class: "relative", onKeyDown },
    /** Of the button. */
    opener: { "aria-haspopup": "menu", "aria-expanded": isOpen, onClick: () => setIsOpen(!isOpen) },
  } as const;
}
