/** The dialog in which a tool is added or changed. */
import type { Tool } from "../lib/types.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { CheckField, SelectField, TextField } from "../ui/field.tsx";
import { useDraft } from "../ui/guarded-save.tsx";
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
  { value: "url", label: "A URL of yours" },
  { value: "mcp_url", label: "An MCP server" },
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
          label="What carries out its calls"
          value={draft.kind}
          options={kinds}
          onValue={(kind) => change({ kind: kind === "mcp_url" ? kind : "url" })}
          hint={
            isMcp
              ? "Its tools are offered to the model as the server describes them."
              : "It gets a signed POST for each call, and its response goes to the model."
          }
        />
      )}
      <TextField
        label="Address"
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
          hint={isMcp ? "What the names of its tools begin with." : "What the model calls it."}
          error={problemOf("name")}
        />
        <TextField
          label="Title"
          maxLength={100}
          value={draft.title}
          onValue={(title) => change({ title })}
          placeholder={isMcp ? "The shop" : "Find an order"}
          hint="What people are shown; the name if there is none."
          error={problemOf("title")}
        />
      </div>
      {isMcp ? (
        <TextField
          label="Which of its tools"
          isCode
          rows={3}
          value={draft.tools}
          onValue={(tools) => change({ tools })}
          placeholder="search_catalogue"
          hint="By the server's own names, one a line; all of them if there is none. Trying it lists what it offers."
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
            hint="What it does, and when to use it. The model decides by this alone."
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
          hint="The chat shows a card with what will be done, and nothing is called until the visitor agrees. For anything that cannot be undone."
          checked={draft.confirm}
          onChecked={(confirm) => change({ confirm })}
        />
        {!isMcp && (
          <CheckField
            label="Verified visitors only"
            hint="Offered only to visitors whom your website has identified; each call names the visitor. For anything personal."
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
        label="Seconds that a call may take"
        inputMode="decimal"
        value={draft.seconds}
        onValue={(seconds) => change({ seconds })}
        hint="The visitor waits meanwhile."
        error={problemOf("timeout_ms")}
      />
      <NoteField note={draft.note} onNote={(note) => change({ note })} />
    </FormDialog>
  );
}
