/** Suggested first questions. */
import { Plus, X } from "lucide-preact";
import { Button, IconButton } from "../ui/button.tsx";
import type { SectionProps } from "./draft.ts";
import { maxStarters } from "./draft.ts";
import { useRowFocus } from "./row-focus.ts";

export function StartersEditor({ draft: { starters }, problems, change }: SectionProps) {
  const { list, focusRow } = useRowFocus();

  /** An empty field is filled before there is another one. */
  function add(): void {
    const empty = starters.findIndex((starter) => starter.trim() === "");
    if (empty === -1) change({ starters: [...starters, ""] });
    focusRow(empty === -1 ? starters.length : empty);
  }

  return (
    <fieldset>
      <legend class="mb-1.5 font-medium">Suggested questions</legend>
      <ul ref={list} class="space-y-2">
        {starters.map((starter, index) => (
          // By place: they have no other name, and move only by removal.
          <li key={index} class="flex gap-1.5">
            <input
              aria-label={`Question ${index + 1}`}
              dir="auto"
              class="control"
              value={starter}
              onInput={({ currentTarget: { value } }) => change({ starters: starters.with(index, value) })}
            />
            <IconButton
              label={`Remove question ${index + 1}`}
              onClick={() => change({ starters: starters.toSpliced(index, 1) })}
            >
              <X size={17} aria-hidden="true" />
            </IconButton>
          </li>
        ))}
      </ul>
      {problems.starters && <p class="mt-1.5 text-[0.88rem] text-bad">{problems.starters}</p>}
      {starters.length < maxStarters && (
        <Button icon={Plus} kind="ghost" class={starters.length > 0 ? "mt-2" : "-ml-2"} onClick={add}>
          Add a question
        </Button>
      )}
    </fieldset>
  );
}
