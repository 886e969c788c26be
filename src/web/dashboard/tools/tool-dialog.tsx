/** What a tool's buttons lead to, loaded with the first of them. */
import { useState } from "preact/hooks";
import { call } from "../lib/api.ts";
import type { Tool, ToolWithSecret } from "../lib/types.ts";
import { ConfirmDelete } from "../ui/dialog.tsx";
import { EditDialog } from "../ui/guarded-save.tsx";
import { RotateSecret, SecretShown } from "../ui/secret.tsx";
import { say } from "../ui/toast.tsx";
import { noteHeader } from "../versions/note.tsx";
import { LastCalls } from "./last-calls.tsx";
import { findToolChanges, type ToolDraft, toToolBody, toToolDraft } from "./tool-draft.ts";
import { ToolForm } from "./tool-form.tsx";
import { TryTool } from "./try-tool.tsx";

export type ToolAct = "edit" | "try" | "calls" | "rotate" | "delete";
export type AskedOfTool = { what: ToolAct; tool: Tool } | { what: "create" };

interface ToolDialogProps {
  /** Of the companion's tools. */
  path: string;
  asked: AskedOfTool;
  onSaved(): Promise<void>;
  onClose(): void;
}

export function ToolDialog({ path, asked, onSaved, onClose }: ToolDialogProps) {
  if (asked.what === "create") return <MakeTool path={path} onSaved={onSaved} onClose={onClose} />;
  const { what, tool } = asked;
  const at = `${path}/${tool.id}`;
  if (what === "edit") {
    return (
      <EditDialog<Tool, ToolDraft>
        path={at}
        name={tool.title}
        toDraft={toToolDraft}
        toBody={toToolBody}
        headersOf={({ note }) => noteHeader(note)}
        findChanged={findToolChanges}
        onSaved={onSaved}
        onClose={onClose}
      >
        {(kept, save) => <ToolForm tool={kept} onSave={save} onClose={onClose} />}
      </EditDialog>
    );
  }
  if (what === "try") return <TryTool path={at} tool={tool} onClose={onClose} />;
  if (what === "calls") return <LastCalls path={at} tool={tool} onClose={onClose} />;
  if (what === "rotate") return <RotateSecret path={at} name={tool.title} onClose={onClose} />;
  return (
    <ConfirmDelete title={`Delete ${tool.title}?`} path={at} onDone={onSaved} onClose={onClose}>
      <p>
        Your companion stops using it immediately, and calls waiting for a visitor are declined. Earlier calls stay in
        the transcripts.
      </p>
    </ConfirmDelete>
  );
}

function MakeTool({ path, onSaved, onClose }: Omit<ToolDialogProps, "asked">) {
  const [made, setMade] = useState<ToolWithSecret | null>(null);
  async function create(draft: ToolDraft): Promise<void> {
    const tool = await call<ToolWithSecret>("POST", path, {
      body: toToolBody(draft),
      headers: noteHeader(draft.note),
    });
    say("Added. Try it before your visitors do.");
    await onSaved();
    // The requests of MCP are not signed.
    if (tool.mcp_url === null) setMade(tool);
    else onClose();
  }
  if (made?.secret) return <SecretShown name={made.title} secret={made.secret} onClose={onClose} />;
  return <ToolForm tool={null} onSave={create} onClose={onClose} />;
}
