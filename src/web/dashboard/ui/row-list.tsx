/** Lists whose rows are more than cells: what a row is about, and what can be done with it. */
import type { ComponentChildren } from "preact";
import type { LoadedList } from "../lib/load.ts";
import { ListFrame } from "./list.tsx";

interface RowListProps<Item extends { id: string }> {
  label: string;
  list: LoadedList<Item>;
  /** Shown if the list is empty. */
  empty: ComponentChildren;
  /** Draws a `Row`, with the item's id as its key. */
  children(item: Item): ComponentChildren;
}

/** A list of the API as rows. */
export function RowList<Item extends { id: string }>({ label, list, empty, children }: RowListProps<Item>) {
  return (
    <ListFrame list={list} empty={empty}>
      {() => <Rows label={label}>{list.items.map(children)}</Rows>}
    </ListFrame>
  );
}

export function Rows({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <ul class="card" aria-label={label}>
      {children}
    </ul>
  );
}

/** The actions stand at its right, or below where there is no room. */
export function Row({ actions, children }: { actions?: ComponentChildren; children: ComponentChildren }) {
  return (
    <li class="flex flex-wrap items-start gap-x-4 gap-y-2 border-line px-4 py-3 not-last:border-b">
      <div class="min-w-0 flex-1 basis-48">{children}</div>
      {actions && <div class="ml-auto flex items-center gap-2">{actions}</div>}
    </li>
  );
}
