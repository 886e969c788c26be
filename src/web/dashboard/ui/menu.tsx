/** What is seldom done, behind a button: a menu that opens below it, with the keys of menus. */
import { Ellipsis, type LucideIcon } from "lucide-preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { IconButton } from "./button.tsx";

export interface MenuItem {
  label: string;
  Icon: LucideIcon;
  isRisk?: boolean;
  onChoose(): void;
}

export function MoreMenu({ label, items }: { label: string; items: readonly MenuItem[] }) {
  const [isOpen, setIsOpen] = useState(false);
  const frame = useRef<HTMLDivElement>(null);
  const buttons = () => [...(frame.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];

  // Before the next key is handled.
  useLayoutEffect(() => {
    if (!isOpen) return;
    buttons()[0]?.focus();
    const closeOutside = ({ target }: Event) => {
      if (target instanceof Node && !frame.current?.contains(target)) setIsOpen(false);
    };
    document.addEventListener("pointerdown", closeOutside);
    return () => document.removeEventListener("pointerdown", closeOutside);
  }, [isOpen]);

  function steer(event: KeyboardEvent): void {
    const all = buttons();
    const at = all.findIndex((one) => one === document.activeElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (event.key === "Tab") setIsOpen(false);
    if (event.key === "Escape") {
      setIsOpen(false);
      frame.current?.querySelector("button")?.focus();
    }
    if (next !== undefined) all.at(next % all.length)?.focus();
    if (next !== undefined || event.key === "Escape") event.preventDefault();
  }

  if (items.length === 0) return null;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the menu in it.
    <div ref={frame} class="relative" onKeyDown={isOpen ? steer : undefined}>
      <IconButton label={label} aria-haspopup="menu" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        <Ellipsis size={18} aria-hidden="true" />
      </IconButton>
      {isOpen && (
        <div
          role="menu"
          aria-label={label}
          class="absolute top-full right-0 z-20 mt-1 min-w-48 animate-[rise_140ms_ease-out] rounded-lg border border-line bg-card p-1 [box-shadow:0_12px_32px_--alpha(var(--color-shade)/16%)]"
        >
          {items.map(({ label, Icon, isRisk, onChoose }) => (
            <button
              key={label}
              type="button"
              role="menuitem"
              tabIndex={-1}
              class={`flex w-full items-center gap-3 rounded-md px-2 py-2 text-left whitespace-nowrap hover:bg-sunken pointer-coarse:py-3 ${isRisk ? "text-bad" : ""}`}
              onClick={() => {
                setIsOpen(false);
                onChoose();
              }}
            >
              <Icon size={16} aria-hidden="true" />
              {label}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
