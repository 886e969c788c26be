/** Adds a tool, or changes one over the version that was read. */
import { useState } from "preact/hooks";
import { call, changedFields, tagOf } from "../lib/api.ts";
import { type Loaded, useLoad } from "../lib/load.ts";
import type { Tool, ToolWithSecret } from "../lib/types.ts";
import { LoadingDialog, useGuardedSave } from "../ui/guarded-save.tsx";
import { SecretShown } from "../ui/secret.tsx";
import { say } from "../ui/toast.tsx";
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
    const tool = await call<ToolWithSecret>("POST", path, { body: toToolBody(draft) });
    say("Added: try it before visitors do.");
    await onSaved();
    // The requests of MCP are not signed.
    if (tool.mcp_url === null) setMade(tool);
    else onClose();
  }
  if (made?.secret) return <SecretShown name={made.title} secret={made.secret} onClose={onClose} />;
  return <ToolForm tool={null} onSave={create} onClose={onClose} />;
}

interface EditProps extends MakeProps {
  tool: Tool;
}

export function EditTool({ path, tool, ...rest }: EditProps) {
  const at = `${path}/${tool.id}`;
  const loaded = useLoad<Tool>(at);
  if (loaded.data === null) return <LoadingDialog title={`Edit ${tool.title}`} of={loaded} onClose={rest.onClose} />;
  return <EditLoaded {...rest} path={at} tool={loaded.data} set={loaded.set} />;
}

function EditLoaded({ path, tool, set, onSaved, onClose }: EditProps & Pick<Loaded<Tool>, "set">) {
  const { save, question } = useGuardedSave<Tool, ToolDraft>({
    name: tool.title,
    base: tool,
    tagOf,
    read: () => call("GET", path),
    findChanged: findToolChanges,
    async write(draft, _, ifMatch) {
      const body = changedFields(toToolBody(toToolDraft(tool)), toToolBody(draft));
      await call("PATCH", path, { body, ifMatch });
      say("Saved: the next call is made with it.");
      await onSaved();
      onClose();
    },
    load: set,
  });
  return (
    <>
      <ToolForm tool={tool} onSave={save} onClose={onClose} />
      {question}
    </>
  );
}
