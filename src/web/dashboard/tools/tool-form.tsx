/** The dialog in which a tool is added or changed. */
import type { Tool } from "../lib/types.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { CheckField, TextField } from "../ui/field.tsx";
import { useDraft } from "../ui/guarded-save.tsx";
import { SelectField } from "../ui/select.tsx";
import { NoteField } from "../versions/note.tsx";
import { HeadersEditor } from "./headers-editor.tsx";
import { ParametersEditor } from "./parameters-editor.tsx";
import { findToolProblems, type ToolDraft, toToolDraft } from "./tool-draft.ts";

interface ToolFormProps {
  /** Null for a new one. */
  tool: Tool | null;
  /** Takes a draft without problems. */
  onSave(draft: ToolDraft): Promise<void>;
  onClose(): void;
}

const kinds = [
  { value: "url", label: "Your own URL" },
  { value: "mcp_url", label: "MCP server" },
] as const;

const maxDescription = 1024;

/** Fields that show what is wrong with them. */
const fields = [
  "name",
  "title",
  "url",
  "mcp_url",
  "description",
  "parameters",
  "tools",
  "headers",
  "timeout_ms",
] as const;

export function ToolForm({ tool, onSave, onClose }: ToolFormProps) {
  const { draft, change, problemOf, form } = useDraft({
    kept: tool,
    toDraft: toToolDraft,
    findProblems: findToolProblems,
    fields,
    onSave,
  });
  const isMcp = draft.kind === "mcp_url";
  return (
    <FormDialog
      title={tool === null ? "Add a tool" : `Edit ${tool.title}`}
      action={tool === null ? "Add" : "Save"}
      {...form}
      isWide
      class="space-y-5"
      onClose={onClose}
    >
      {tool === null && (
        <SelectField
          label="Type"
          value={draft.kind}
          options={kinds}
          onValue={(kind) => change({ kind: kind === "mcp_url" ? kind : "url" })}
          hint={
            isMcp
              ? "The model gets the tools as the server describes them."
              : "Each call is a signed POST to your URL. Your response goes to the model."
          }
        />
      )}
      <TextField
        label="URL"
        isCode
        autofocus
        value={draft.address}
        onValue={(address) => change({ address })}
        placeholder={isMcp ? "https://shop.example/mcp" : "https://shop.example/companion/orders"}
        error={problemOf(draft.kind)}
      />
      <div class="grid items-start gap-5 sm:grid-cols-2">
        <TextField
          label="Name"
          isCode
          maxLength={64}
          value={draft.name}
          onValue={(name) => change({ name })}
          placeholder={isMcp ? "shop" : "find_order"}
          hint={isMcp ? "Tool names begin with it." : "The name the model uses."}
          error={problemOf("name")}
        />
        <TextField
          label="Title"
          maxLength={100}
          value={draft.title}
          onValue={(title) => change({ title })}
          placeholder={isMcp ? "The shop" : "Find an order"}
          hint="Shown to visitors. Leave empty to use the name."
          error={problemOf("title")}
        />
      </div>
      {isMcp ? (
        <TextField
          label="Tools to use"
          isCode
          rows={3}
          value={draft.tools}
          onValue={(tools) => change({ tools })}
          placeholder="search_catalogue"
          hint="One name per line. Leave empty to use all of them. Use “Try…” to see what the server offers."
          error={problemOf("tools")}
        />
      ) : (
        <>
          <TextField
            label="Description"
            rows={3}
            maxLength={maxDescription}
            aside={`${draft.description.length} / ${maxDescription}`}
            value={draft.description}
            onValue={(description) => change({ description })}
            placeholder="Finds an order by its number, and returns its status."
            hint="What it does and when to use it. The model decides by this alone."
            error={problemOf("description")}
          />
          <ParametersEditor
            draft={draft.parameters}
            error={problemOf("parameters")}
            onDraft={(parameters) => change({ parameters })}
          />
        </>
      )}
      <div class="space-y-2">
        <CheckField
          label="Ask the visitor before each call"
          hint="Nothing happens until the visitor agrees. Use it for anything that can't be undone."
          checked={draft.confirm}
          onChecked={(confirm) => change({ confirm })}
        />
        {!isMcp && (
          <CheckField
            label="Verified visitors only"
            hint="Only for visitors your website has identified. Each call names the visitor. Use it for anything personal."
            checked={draft.requiresVisitor}
            onChecked={(requiresVisitor) => change({ requiresVisitor })}
          />
        )}
      </div>
      <HeadersEditor
        stored={tool?.header_names ?? []}
        headers={draft.headers}
        error={problemOf("headers")}
        onHeaders={(headers) => change({ headers })}
      />
      <TextField
        label="Time limit (seconds)"
        inputMode="decimal"
        value={draft.seconds}
        onValue={(seconds) => change({ seconds })}
        hint="Visitors wait while the call runs."
        error={problemOf("timeout_ms")}
      />
      <NoteField note={draft.note} onNote={(note) => change({ note })} />
    </FormDialog>
  );
}
