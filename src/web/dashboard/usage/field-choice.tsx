/** Chooses the metadata field to group usage by: typed, or one of those that companions have. */
import { useId, useState } from "preact/hooks";
import { useLoad } from "../lib/load.ts";
import type { Companion, Json, Page } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { Field, Form } from "../ui/field.tsx";

export function FieldChoice({ value, onValue }: { value: string; onValue(field: string): void }) {
  const id = useId();
  const [typed, setTyped] = useState(value);
  const companions = useLoad<Page<Pick<Companion, "metadata">>>("/api/companions?limit=1000&fields=metadata").data
    ?.data;
  const known = [...new Set(companions?.flatMap(({ metadata }) => listFields(metadata)))].toSorted();
  return (
    <Form class="mb-5 flex items-end gap-2" onSubmit={() => onValue(typed.trim())}>
      <Field label="Metadata field" class="flex-1 sm:max-w-80">
        {(wiring) => (
          <input
            {...wiring}
            list={`${id}-known`}
            dir="ltr"
            autocomplete="off"
            spellcheck={false}
            placeholder={known[0] ?? "tenant"}
            class="control font-mono text-[0.92em]"
            value={typed}
            onInput={({ currentTarget: { value: next } }) => {
              setTyped(next);
              // Chosen from the list: there is nothing left to confirm.
              if (known.includes(next)) onValue(next);
            }}
          />
        )}
      </Field>
      <datalist id={`${id}-known`}>
        {known.map((field) => (
          <option key={field} value={field} />
        ))}
      </datalist>
      <Button type="submit" disabled={typed.trim() === "" || typed.trim() === value}>
        Show
      </Button>
    </Form>
  );
}

/** Fields with a single value, nested ones by their path. */
function listFields(metadata: { [key: string]: Json }, path = ""): string[] {
  return Object.entries(metadata).flatMap(([name, value]) => {
    if (Array.isArray(value)) return [];
    return typeof value === "object" && value !== null ? listFields(value, `${path}${name}.`) : [`${path}${name}`];
  });
}
