/** Adds a tool, or changes one over the version that was read. */
import { useState } from "preact/hooks";
import { call } from "../lib/api.ts";
import type { Tool, ToolWithSecret } from "../lib/types.ts";
import { EditDialog } from "../ui/guarded-save.tsx";
import { SecretShown } from "../ui/secret.tsx";
import { say } from "../ui/toast.tsx";
import { noteHeader } from "../versions/note.tsx";
import { findToolChanges, type ToolDraft, toToolBody, toToolDraft } from "./tool-draft.ts";
import { ToolForm } from "./tool-form.tsx";

interface MakeProps {
  /** Of the companion's tools. */
  path: string;
  onSaved(): Promise<void>;
  onClose(): void;
}

export function MakeTool({ path, onSaved, onClose }: MakeProps) {
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

interface EditToolProps extends MakeProps {
  tool: Tool;
}

export function EditTool({ path, tool, onSaved, onClose }: EditToolProps) {
  return (
    <EditDialog<Tool, ToolDraft>
      path={`${path}/${tool.id}`}
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
