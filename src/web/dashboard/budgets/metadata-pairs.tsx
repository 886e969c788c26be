/** The fields and values that companions' metadata must have, for a budget or a visitor key. */
import { Plus, X } from "lucide-preact";
import { useId } from "preact/hooks";
import { type MetadataPair, maxPairs } from "../lib/metadata-pairs.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { FieldNotes } from "../ui/field.tsx";
import { useRowFocus } from "../ui/focus.ts";

interface MetadataPairsProps {
  pairs: readonly MetadataPair[];
  onPairs(pairs: MetadataPair[]): void;
  error: string | undefined;
}

export function MetadataPairs({ pairs, onPairs, error }: MetadataPairsProps) {
  const id = useId();
  const { list, focusRow } = useRowFocus();
  const set = (index: number, pair: MetadataPair) => onPairs(pairs.with(index, pair));
  const wiring = {
    "aria-describedby": error ? `${id}-error` : `${id}-hint`,
    class: "control min-w-0 flex-1 font-mono text-[0.9em]",
    autocomplete: "off",
  };
  return (
    <fieldset>
      <legend class="mb-1.5 font-medium">Metadata</legend>
      <ul ref={list} class="space-y-2">
        {pairs.map((pair, index) => (
          // By index: fields may be empty or equal while they are typed.
          <li key={index} class="flex gap-1.5">
            <input
              {...wiring}
              aria-label={`Field ${index + 1}`}
              aria-invalid={error ? true : undefined}
              placeholder="tenant"
              dir="ltr"
              value={pair.field}
              onInput={({ currentTarget: { value: field } }) => set(index, { ...pair, field })}
            />
            <input
              {...wiring}
              aria-label={`Value ${index + 1}`}
              placeholder="acme"
              dir="auto"
              value={pair.value}
              onInput={({ currentTarget: { value } }) => set(index, { ...pair, value })}
            />
            {pairs.length > 1 && (
              <IconButton
                label={`Remove field ${index + 1}`}
                icon={X}
                size={17}
                onClick={() => {
                  onPairs(pairs.toSpliced(index, 1));
                  focusRow(0);
                }}
              />
            )}
          </li>
        ))}
      </ul>
      <FieldNotes
        id={id}
        error={error}
        hint={pairs.length > 1 ? "Companions that match all of these." : "Use a dot for nested fields: customer.id"}
      />
      {pairs.length < maxPairs && (
        <Button
          icon={Plus}
          kind="ghost"
          class="-ml-2"
          onClick={() => {
            onPairs([...pairs, { field: "", value: "" }]);
            focusRow(pairs.length);
          }}
        >
          Add a field
        </Button>
      )}
    </fieldset>
  );
}
