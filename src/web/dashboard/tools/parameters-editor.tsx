/** The parameters of a tool: a row for each, or JSON Schema for what rows cannot express. */
import { Plus, X } from "lucide-preact";
import { Button, IconButton } from "../ui/button.tsx";
import { FieldError, TextField } from "../ui/field.tsx";
import { useRowFocus } from "../ui/focus.ts";
import { Segments } from "../ui/segments.tsx";
import { Select } from "../ui/select.tsx";
import {
  emptyRow,
  exampleParameters,
  hasRows,
  type ParameterRow,
  type ParametersDraft,
  parameterTypes,
  readParameters,
  switchMode,
} from "./parameters-draft.ts";

interface ParametersEditorProps {
  draft: ParametersDraft;
  error: string | undefined;
  onDraft(draft: ParametersDraft): void;
}

export function ParametersEditor({ draft, error, onDraft }: ParametersEditorProps) {
  const { mode, rows, json } = draft;
  const { list, focusRow } = useRowFocus();
  const setRows = (next: readonly ParameterRow[]) => onDraft({ ...draft, rows: next });
  const read = readParameters(draft);
  // As it is typed, since rows are out of reach until it is right.
  const problem = mode === "json" && "problem" in read ? read.problem : error;

  return (
    <fieldset>
      <legend class="mb-1.5 font-medium">Parameters</legend>
      <Segments
        label="Parameters as"
        class="mb-4"
        value={mode}
        isDisabled={mode === "json" ? !hasRows(draft) : "problem" in read}
        onValue={() => onDraft(switchMode(draft))}
        options={{ rows: "Fields", json: "JSON" }}
      />
      {mode === "json" ? (
        <TextField
          label="JSON Schema"
          aside={
            <button
              type="button"
              class="text-accent underline"
              onClick={() => onDraft({ ...draft, json: JSON.stringify(exampleParameters, null, 2) })}
            >
              Insert an example
            </button>
          }
          isCode
          rows={12}
          value={json}
          onValue={(text) => onDraft({ ...draft, json: text })}
          hint={
            hasRows(draft)
              ? "The schema of an object. Calls that don't match it aren't sent, and the model learns why."
              : "Uses more than fields can show, such as choices or patterns. Calls that don't match aren't sent."
          }
          error={problem}
        />
      ) : (
        <>
          <ul ref={list} class="space-y-3">
            {rows.map((row, index) => (
              // By index: names may be empty or equal while they are typed.
              <li key={index}>
                <Row
                  row={row}
                  number={index + 1}
                  onRow={(next) => setRows(rows.with(index, next))}
                  onRemove={() => {
                    setRows(rows.toSpliced(index, 1));
                    focusRow(Math.max(0, index - 1));
                  }}
                />
              </li>
            ))}
          </ul>
          <FieldError role="alert" error={problem} />
          <p class="mt-1.5 text-13 text-muted">
            {rows.length === 0
              ? "None yet. The tool is called without arguments."
              : "The model fills these in from the conversation. Describe each one, so it knows what to ask for."}
          </p>
          <Button
            icon={Plus}
            kind="ghost"
            class="-ml-2"
            onClick={() => {
              setRows([...rows, emptyRow]);
              focusRow(rows.length);
            }}
          >
            Add a parameter
          </Button>
        </>
      )}
    </fieldset>
  );
}

interface RowProps {
  row: ParameterRow;
  number: number;
  onRow(row: ParameterRow): void;
  onRemove(): void;
}

function Row({ row, number, onRow, onRemove }: RowProps) {
  return (
    <div class="flex flex-wrap items-center gap-1.5">
      <input
        aria-label={`Name of parameter ${number}`}
        placeholder="number"
        dir="ltr"
        autocomplete="off"
        class="control min-w-0 flex-1 basis-32 font-mono text-[0.9em]"
        value={row.name}
        onInput={({ currentTarget: { value: name } }) => onRow({ ...row, name })}
      />
      <Select
        aria-label={`Type of parameter ${number}`}
        class="shrink-0"
        value={row.type}
        onValue={(type) => onRow({ ...row, type })}
        options={parameterTypes}
      />
      <label class="flex items-center gap-1.5">
        <input
          type="checkbox"
          checked={row.isRequired}
          class="size-4 shrink-0 accent-accent"
          onChange={({ currentTarget: { checked: isRequired } }) => onRow({ ...row, isRequired })}
        />
        Required<span class="sr-only"> parameter {number}</span>
      </label>
      <IconButton label={`Remove parameter ${number}`} icon={X} size={17} onClick={onRemove} />
      <input
        aria-label={`Description of parameter ${number}`}
        placeholder="Six digits, on the invoice"
        dir="auto"
        autocomplete="off"
        class="control min-w-0 w-full"
        value={row.description}
        onInput={({ currentTarget: { value: description } }) => onRow({ ...row, description })}
      />
    </div>
  );
}
