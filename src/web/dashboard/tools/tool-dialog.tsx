/** What a tool's buttons lead to, loaded with the first of them. */
import type { Tool } from "../lib/types.ts";
import { ConfirmDelete } from "../ui/dialog.tsx";
import { RotateSecret } from "../ui/secret.tsx";
import { EditTool, MakeTool } from "./edit-tool.tsx";
import { LastCalls } from "./last-calls.tsx";
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
  if (what === "edit") return <EditTool path={path} tool={tool} onSaved={onSaved} onClose={onClose} />;
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
