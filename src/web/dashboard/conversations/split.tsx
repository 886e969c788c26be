/** Conversations beside the one that is open; on phones one at a time. The keys j, k, e and / work wherever nothing is typed. */
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { ListedConversation } from "../lib/types.ts";
import { ConversationRow } from "./row.tsx";

interface SplitProps {
  isOpen: boolean;
  list: ComponentChildren;
  children: ComponentChildren;
}

export function Split({ isOpen, list, children }: SplitProps) {
  useEffect(() => {
    document.addEventListener("keydown", followKey);
    return () => document.removeEventListener("keydown", followKey);
  }, []);
  // On phones the list scrolls with the page, which a conversation takes from it.
  const scrolledTo = useRef(0);
  useLayoutEffect(() => {
    if (!isOpen && scrolledTo.current > 0) window.scrollTo(0, scrolledTo.current);
  }, [isOpen]);
  return (
    <div class="fills-window relative grid grid-cols-[minmax(0,1fr)] gap-4 md:grid-cols-[minmax(16rem,22.5rem)_minmax(0,1fr)]">
      <section
        aria-label="Conversations"
        onClickCapture={() => {
          scrolledTo.current = window.scrollY;
        }}
        class={`flex min-h-0 flex-col gap-3 ${isOpen ? "max-md:hidden" : ""}`}
      >
        {list}
      </section>
      {isOpen ? (
        children
      ) : (
        <div class="grid place-items-center rounded-2xl border border-dashed border-strong p-6 text-center text-muted max-md:hidden">
          <p>
            Choose a conversation to read it.
            <span class="mt-2 block text-13 pointer-coarse:hidden">
              <Key>J</Key> <Key>K</Key> next and previous, <Key>Enter</Key> open, <Key>E</Key> export, <Key>/</Key>{" "}
              search
            </span>
          </p>
        </div>
      )}
    </div>
  );
}

function Key({ children }: { children: string }) {
  return <kbd class="rounded-md border border-line bg-card px-1.5 font-sans text-12">{children}</kbd>;
}

/** `data-key`: what a key presses, or where it puts the cursor. */
function followKey(event: KeyboardEvent): void {
  const { target, key } = event;
  const isTyping = target instanceof Element && target.closest("input, textarea, select, dialog, [role=menu]") !== null;
  if (isTyping || event.metaKey || event.ctrlKey || event.altKey) return;
  const step = { j: 1, k: -1 }[key];
  if (step !== undefined) moveBy(step, event);
  if (key !== "e" && key !== "/") return;
  const found = document.querySelector<HTMLElement>(`[data-key="${key}"]`);
  if (found === null) return;
  event.preventDefault();
  if (found instanceof HTMLInputElement) found.focus();
  else found.click();
}

/** From the row with the focus, else from the one that is open. */
function moveBy(step: number, event: KeyboardEvent): void {
  const links = [...document.querySelectorAll<HTMLElement>("[data-rows] a")];
  const focused = links.indexOf(document.activeElement as HTMLElement);
  const from = focused === -1 ? links.findIndex((link) => link.ariaCurrent === "true") : focused;
  const next = links[from + step];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}

interface RowsProps {
  label: string;
  rows: readonly ListedConversation[];
  openId: string | null;
  hrefOf(id: string): string;
  /** What all of them have in common. */
  view?: string;
  /** Where all are of one companion, its name says nothing. */
  hasCompanion?: boolean;
  /** Below them. */
  children?: ComponentChildren;
}

export function Rows({ label, rows, openId, hrefOf, view, hasCompanion = true, children }: RowsProps) {
  const frame = useRef<HTMLElement>(null);
  // After a reload of one's address.
  useEffect(() => frame.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" }), []);
  return (
    <nav
      ref={frame}
      aria-label={label}
      data-rows
      class="card min-h-0 overflow-y-auto"
      onKeyDown={(event) => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (step !== undefined) moveBy(step, event);
      }}
    >
      <ul>
        {rows.map((row) => (
          <ConversationRow
            key={row.id}
            row={row}
            href={hrefOf(row.id)}
            isOpen={row.id === openId}
            view={view}
            hasCompanion={hasCompanion}
          />
        ))}
      </ul>
      {children}
    </nav>
  );
}
