/** Metadata as rows of keys and values, or as raw JSON. */
import { Plus, X } from "lucide-preact";
import { Button, IconButton } from "../ui/button.tsx";
import { FieldError, TextField } from "../ui/field.tsx";
import { useRowFocus } from "../ui/focus.ts";
import { Segments } from "../ui/segments.tsx";
import { Select } from "../ui/select.tsx";
import type { SectionProps } from "./draft.ts";
import { type MetadataRow, readMetadata, switchMode } from "./metadata-draft.ts";

export function MetadataEditor({ draft: { metadata }, problems, change }: SectionProps) {
  const isReadable = "value" in readMetadata(metadata);
  const setRows = (rows: MetadataRow[]) => change({ metadata: { ...metadata, rows } });
  const { list, focusRow } = useRowFocus();

  /** An empty row is filled before there is another one. */
  function add(): void {
    const empty = metadata.rows.findIndex(({ key, value }) => key === "" && value === "");
    if (empty === -1) setRows([...metadata.rows, { key: "", kind: "text", value: "" }]);
    focusRow(empty === -1 ? metadata.rows.length : empty);
  }

  return (
    <div>
      <Segments
        label="Edit as"
        class="mb-4"
        value={metadata.mode}
        isDisabled={!isReadable}
        onValue={() => change({ metadata: switchMode(metadata) })}
        options={{ rows: "Fields", json: "JSON" }}
      />
      {metadata.mode === "json" ? (
        <TextField
          label="Metadata as JSON"
          isCode
          rows={8}
          value={metadata.json}
          onValue={(json) => change({ metadata: { ...metadata, json } })}
          error={problems.metadata}
        />
      ) : (
        <>
          <ul ref={list} class="space-y-3 sm:space-y-2">
            {metadata.rows.map((row, index) => (
              // By index: keys may be empty or equal while they are typed.
              <li key={index}>
                <Row
                  row={row}
                  position={index + 1}
                  onChange={(next) => setRows(metadata.rows.with(index, next))}
                  onRemove={() => setRows(metadata.rows.toSpliced(index, 1))}
                />
              </li>
            ))}
          </ul>
          <FieldError error={problems.metadata} />
          <Button icon={Plus} kind="ghost" class={metadata.rows.length > 0 ? "mt-2" : "-ml-2"} onClick={add}>
            Add a field
          </Button>
        </>
      )}
    </div>
  );
}

const kinds = [
  { value: "text", label: "Text" },
  { value: "json", label: "JSON" },
];

interface RowProps {
  row: MetadataRow;
  position: number;
  onChange(row: MetadataRow): void;
  onRemove(): void;
}

function Row({ row, position, onChange, onRemove }: RowProps) {
  return (
    <div class="flex flex-wrap gap-1.5 sm:flex-nowrap">
      <input
        aria-label={`Key ${position}`}
        placeholder="key"
        dir="ltr"
        class="control min-w-0 flex-1 basis-32 font-mono text-[0.9em]"
        value={row.key}
        onInput={(event) => onChange({ ...row, key: event.currentTarget.value })}
      />
      <Select
        aria-label={`Kind of value ${position}`}
        class="shrink-0"
        value={row.kind}
        onValue={(kind) => onChange({ ...row, kind: kind === "json" ? kind : "text" })}
        options={kinds}
      />
      <input
        aria-label={`Value ${position}`}
        placeholder={row.kind === "json" ? '42, true, ["a"]' : "value"}
        dir="auto"
        class="control min-w-0 flex-[2] basis-40 font-mono text-[0.9em]"
        value={row.value}
        onInput={(event) => onChange({ ...row, value: event.currentTarget.value })}
      />
      <IconButton label={`Remove field ${position}`} icon={X} size={17} onClick={onRemove} />
    </div>
  );
}
