/** Tables that become cards on narrow screens, and what goes around every list of the API. */
import { Search } from "lucide-preact";
import type { ComponentChildren } from "preact";
import type { LoadedList } from "../lib/load.ts";
import { Button } from "./button.tsx";
import type { TextFieldProps } from "./field.tsx";
import { Failure, Problem, Skeleton } from "./states.tsx";

/** The first is the row's title. */
export interface Column<Row> {
  /** Empty for actions. */
  title: string;
  cell(row: Row): ComponentChildren;
  class?: string;
  isNumber?: boolean;
  /** On phones cells are parts of one line below the row's title: after their own titles, or in other words. One that is null is left out. */
  onPhone?: "hide" | "titled" | ((row: Row) => ComponentChildren);
}

interface TableProps<Row> {
  /** What it lists, for screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf(row: Row): string;
}

/** On phones a row is its title, one line of facts, and its actions at the top right. */
export function Table<Row>({ label, columns, rows, keyOf }: TableProps<Row>) {
  return (
    <div class="card overflow-x-auto overflow-y-hidden">
      <table aria-label={label} class="w-full max-md:block">
        <thead class="max-md:sr-only">
          <tr class="border-b border-line text-left text-13 text-muted">
            {columns.map((column) => (
              <th
                key={column.title}
                scope="col"
                class={`px-4 py-2.5 font-medium ${column.isNumber ? "text-right" : ""}`}
              >
                {column.title || <span class="sr-only">Actions</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody class="max-md:block">
          {rows.map((row) => (
            <tr key={keyOf(row)} class="relative border-line not-last:border-b hover:bg-sunken">
              {columns.map((column, at) => {
                return (
                  <td
                    key={column.title}
                    class={`cell align-middle md:px-4 md:py-3 ${roleOf(column, at)} ${
                      column.isNumber ? "text-right tabular-nums" : ""
                    } ${column.class ?? ""}`}
                  >
                    {drawCell(column, row)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function drawCell<Row>({ title, cell, onPhone }: Column<Row>, row: Row): ComponentChildren {
  const content = cell(row);
  if (content === null || !onPhone || onPhone === "hide") return content;
  const isTitled = onPhone === "titled";
  return (
    <>
      <span class="md:hidden">{isTitled ? `${title} ` : onPhone(row)}</span>
      {isTitled ? content : <span class="max-md:hidden">{content}</span>}
    </>
  );
}

function roleOf<Row>({ title, onPhone }: Column<Row>, at: number): string {
  if (at === 0) return "is-title";
  if (title === "") return "is-actions";
  return onPhone === "hide" ? "max-md:hidden" : "is-fact";
}

interface ListProps<Item extends { id: string }> {
  label: string;
  columns: readonly Column<Item>[];
  list: LoadedList<Item>;
  /** Shown if the list is empty. */
  empty: ComponentChildren;
}

/** A list of the API as a table. */
export function List<Item extends { id: string }>({ label, columns, list, empty }: ListProps<Item>) {
  return (
    <ListFrame list={list} empty={empty}>
      {() => <Table label={label} columns={columns} rows={list.items} keyOf={({ id }) => id} />}
    </ListFrame>
  );
}

interface ListFrameProps extends Pick<ListProps<{ id: string }>, "empty"> {
  list: Omit<LoadedList<{ id: string }>, "update">;
  /** Draws the items, if there are any. */
  children(): ComponentChildren;
}

/** Around every list of the API: loading, failure, emptiness and the next page are the same for all of them. */
export function ListFrame({ list, empty, children }: ListFrameProps) {
  if (list.items.length === 0) {
    if (list.isLoading) return <Skeleton />;
    return list.error === null ? empty : <Failure error={list.error} onRetry={() => void list.reload()} />;
  }
  return (
    <>
      {children()}
      <Problem error={list.error} class="mt-4" />
      {list.hasMore && <ShowMore isBusy={list.isLoadingMore} onMore={list.loadMore} />}
    </>
  );
}

interface ShowMoreProps {
  isBusy?: boolean;
  class?: string;
  onMore(): unknown;
  children?: ComponentChildren;
}

/** Below a list of which there is more. */
export function ShowMore({ isBusy = false, class: more = "mt-4", onMore, children = "Show more" }: ShowMoreProps) {
  return (
    <div class={`flex justify-center ${more}`}>
      <Button isBusy={isBusy} onClick={() => void onMore()}>
        {children}
      </Button>
    </div>
  );
}

type SearchProps = Pick<TextFieldProps, "label" | "placeholder" | "value" | "onValue" | "maxLength" | "class">;

/** `data-key`: the key that puts the cursor here. */
export function SearchField(props: SearchProps & { "data-key"?: string }) {
  const { label, placeholder = label, onValue, class: more = "", ...rest } = props;
  return (
    <div class={`relative ${more}`}>
      <Search size={17} aria-hidden="true" class="absolute inset-y-0 my-auto left-3 text-muted" />
      <input
        {...rest}
        type="search"
        aria-label={label}
        placeholder={placeholder}
        class="control pl-9"
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
      />
    </div>
  );
}
