/** The headers of a tool: their names are shown, their values are only ever written. */
import { Plus, X } from "lucide-preact";
import { useId } from "preact/hooks";
import { Button, IconButton } from "../ui/button.tsx";
import { FieldNotes } from "../ui/field.tsx";
import { useRowFocus } from "../ui/focus.ts";
import type { HeaderRow } from "./tool-draft.ts";

interface HeadersEditorProps {
  /** Names of those that are stored. */
  stored: readonly string[];
  /** Null leaves those. */
  headers: readonly HeaderRow[] | null;
  error: string | undefined;
  onHeaders(headers: readonly HeaderRow[] | null): void;
}

export function HeadersEditor({ stored, headers, error, onHeaders }: HeadersEditorProps) {
  const id = useId();
  const { list, focusRow } = useRowFocus();
  const rows = headers ?? [];
  const isKept = headers === null && stored.length > 0;
  function add(): void {
    onHeaders([...rows, { name: "", value: "" }]);
    focusRow(rows.length);
  }
  const wiring = {
    "aria-describedby": error ? `${id}-error` : `${id}-hint`,
    class: "control min-w-0 flex-1 font-mono text-[0.9em]",
    autocomplete: "off",
    spellcheck: false,
    dir: "ltr",
  } as const;
  return (
    <fieldset>
      <legend class="mb-1.5 font-medium">Headers</legend>
      {isKept && (
        <p class="wrap-anywhere">
          {stored.map((name, index) => (
            <span key={name}>
              {index > 0 && ", "}
              <code class="font-mono text-[0.92em]">{name}</code>
            </span>
          ))}
        </p>
      )}
      <ul ref={list} class="space-y-2">
        {rows.map((row, index) => (
          // By index: names may be empty or equal while they are typed.
          <li key={index} class="flex gap-1.5">
            <input
              {...wiring}
              aria-label={`Name of header ${index + 1}`}
              aria-invalid={error ? true : undefined}
              placeholder="Authorization"
              value={row.name}
              onInput={({ currentTarget: { value: name } }) => onHeaders(rows.with(index, { ...row, name }))}
            />
            <input
              {...wiring}
              aria-label={`Value of header ${index + 1}`}
              placeholder="Bearer 0f1e2d"
              value={row.value}
              onInput={({ currentTarget: { value } }) => onHeaders(rows.with(index, { ...row, value }))}
            />
            <IconButton
              label={`Remove header ${index + 1}`}
              icon={X}
              size={17}
              onClick={() => {
                onHeaders(rows.toSpliced(index, 1));
                focusRow(Math.max(0, index - 1));
              }}
            />
          </li>
        ))}
      </ul>
      <FieldNotes
        id={id}
        error={error}
        hint={
          isKept
            ? "Sent with every request. Values are encrypted and never shown."
            : headers !== null && stored.length > 0
              ? rows.length === 0
                ? "Saving removes the stored headers."
                : "These replace all stored headers."
              : "Sent with every request, such as an API key. Values are encrypted and never shown again."
        }
      />
      {isKept ? (
        <Button
          class="mt-2"
          onClick={() => {
            onHeaders(stored.map((name) => ({ name, value: "" })));
            focusRow(0);
          }}
        >
          Replace headers
        </Button>
      ) : (
        <>
          <Button icon={Plus} kind="ghost" class="-ml-2" onClick={add}>
            Add a header
          </Button>
          {stored.length > 0 && (
            <Button kind="ghost" onClick={() => onHeaders(null)}>
              Keep stored headers
            </Button>
          )}
        </>
      )}
    </fieldset>
  );
}
