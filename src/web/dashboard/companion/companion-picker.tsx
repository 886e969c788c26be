/** Chooses one companion of however many, by typing a part of its name. */
import { ChevronsUpDown } from "lucide-preact";
import { useId, useRef, useState } from "preact/hooks";
import { call, toSearch } from "../lib/api.ts";
import { noteName, useCompanionNames } from "../lib/companion-names.ts";
import { useLoad, useSettled } from "../lib/load.ts";
import { replaceSearch, useSearch } from "../lib/router.ts";
import type { Companion, Page } from "../lib/types.ts";
import { Chip } from "../ui/chips.tsx";
import { FieldError } from "../ui/field.tsx";

interface PickerProps {
  /** An id; empty for all. */
  value: string;
  /** What all of them together are called; null if it must be one. */
  everyone?: string | null;
  onValue(id: string | null): void;
  error?: string | undefined;
}

/** As a filter, whose state stands in the address. */
export function CompanionChip() {
  const value = useSearch().get("companion_id") ?? "";
  const names = useCompanionNames([value]);
  return (
    <Chip label={value ? (names[value] ?? "One companion") : "Companion"} isChosen={value !== ""}>
      <CompanionPicker value={value} onValue={(companion_id) => replaceSearch({ companion_id })} />
    </Chip>
  );
}

export function CompanionPicker({ value, everyone = "All companions", onValue, error }: PickerProps) {
  const id = useId();
  const names = useCompanionNames([value]);
  const [typed, setTyped] = useState<string | null>(null);
  const [isOpen, setIsOpen] = useState(false);
  const [at, setAt] = useState(0);
  const q = useSettled(typed ?? "");
  const found = useLoad<Page<Companion>>(isOpen ? `/api/companions${toSearch({ q, limit: 8 })}` : null);
  const options = [
    ...(everyone === null ? [] : [{ id: "", name: everyone }]),
    ...(found.data?.data ?? []).map(({ id, name }) => ({ id, name })),
  ];
  const marked = options[at];
  /**
   * The list is of what has been typed, or the companion that is marked is named by it: else Enter would choose what the
   * text does not. All of them stand in every list.
   */
  const isCurrent =
    (q === (typed ?? "") && (found.data !== null || found.error !== null)) ||
    (!!typed && !!marked?.id && marked.name.toLowerCase().includes(typed.toLowerCase()));
  const entered = useRef(0);
  const shown = value === "" ? (everyone ?? "") : (names[value] ?? "One companion");

  /** Anyone who types faster than the list loads goes on meanwhile. */
  async function chooseTyped(): Promise<void> {
    const own = ++entered.current;
    const search = toSearch({ q: typed, limit: 1 });
    const page = await call<Page<Companion>>("GET", `/api/companions${search}`).catch(() => null);
    if (own === entered.current) choose(page?.data[0]);
  }

  function choose(option: { id: string; name: string } | undefined): void {
    if (!option) return;
    entered.current++;
    if (option.id !== "") noteName(option.id, option.name);
    onValue(option.id || null);
    close();
  }

  function open({ currentTarget }: { readonly currentTarget: HTMLInputElement }): void {
    if (isOpen) return;
    setTyped("");
    setIsOpen(true);
    currentTarget.select();
  }

  function close(): void {
    setIsOpen(false);
    setTyped(null);
    setAt(0);
  }

  return (
    <div class="relative min-w-0">
      <label for={id} class="mb-1.5 block font-medium">
        Companion
      </label>
      <div class="relative">
        <input
          id={id}
          role="combobox"
          aria-expanded={isOpen}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={isOpen ? `${id}-${at}` : undefined}
          aria-invalid={error ? true : undefined}
          aria-describedby={error && `${id}-error`}
          autocomplete="off"
          dir="auto"
          class="control pr-8"
          value={typed ?? shown}
          placeholder="Type a name"
          onFocus={open}
          // After a choice it has the focus still.
          onClick={open}
          onBlur={close}
          onInput={(event) => {
            setTyped(event.currentTarget.value);
            setIsOpen(true);
            entered.current++;
            setAt(event.currentTarget.value === "" || everyone === null ? 0 : 1);
          }}
          onKeyDown={(event) => {
            if (event.key === "ArrowDown" || event.key === "ArrowUp") {
              event.preventDefault();
              setIsOpen(true);
              setAt((at + (event.key === "ArrowDown" ? 1 : options.length - 1)) % Math.max(1, options.length));
            } else if (event.key === "Enter" && isOpen) {
              event.preventDefault();
              if (isCurrent) choose(marked);
              else void chooseTyped();
            } else if (event.key === "Escape" && isOpen) {
              event.stopPropagation();
              close();
            }
          }}
        />
        <ChevronsUpDown
          size={14}
          aria-hidden="true"
          class="pointer-events-none absolute inset-y-0 my-auto right-3 text-muted"
        />
      </div>
      <div
        id={`${id}-list`}
        role="listbox"
        aria-label="Companions"
        hidden={!isOpen}
        class="absolute inset-x-0 top-full z-20 mt-1 max-h-80 overflow-y-auto rounded-lg border border-line bg-card p-1 floating"
      >
        {options.map((option, index) => (
          <div
            key={option.id}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={option.id === value}
            dir="auto"
            // The field keeps the focus, so that leaving it is one thing and choosing another.
            onMouseDown={(event) => {
              event.preventDefault();
              choose(option);
            }}
            class={`cursor-pointer truncate rounded-lg px-3 py-2 ${index === at ? "bg-sunken" : "hover:bg-sunken"} ${
              option.id === value ? "font-medium text-accent" : ""
            }`}
          >
            {option.name}
          </div>
        ))}
      </div>
      <FieldError id={`${id}-error`} error={error} />
    </div>
  );
}
