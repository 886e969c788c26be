/** Calls a tool as the model would, and shows what comes of it; of an MCP server, first which tools it has. */
import { useState } from "preact/hooks";
import { call, fieldProblem } from "../lib/api.ts";
import { formatDuration } from "../lib/format.ts";
import { type JsonObject, readJsonObject } from "../lib/json-text.ts";
import { useAction, useLoad } from "../lib/load.ts";
import type { Json, Tool, ToolTest } from "../lib/types.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { TextField } from "../ui/field.tsx";
import { SelectField } from "../ui/select.tsx";
import { Badge, Notice, Pending, Problem } from "../ui/states.tsx";
import { JsonText } from "./call-view.tsx";
import { sampleOf } from "./parameters-draft.ts";

interface TryToolProps {
  /** Of the tool. */
  path: string;
  tool: Tool;
  onClose(): void;
}

const list = (path: string, signal: AbortSignal) => call<ToolTest>("POST", path, { body: {}, signal });

export function TryTool({ path, tool, onClose }: TryToolProps) {
  const isMcp = tool.mcp_url !== null;
  const listed = useLoad(isMcp ? `${path}/test` : null, list);
  const offered: string[] = listed.data?.ok ? JSON.parse(listed.data.result) : [];
  const [chosen, setChosen] = useState<string | null>(null);
  const [text, setText] = useState(() => JSON.stringify(sampleOf((tool.parameters as Json) ?? {}) || {}, null, 2));
  const [came, setCame] = useState<ToolTest | null>(null);
  const read = readJsonObject(text);
  const name = chosen ?? offered[0];
  const submit = useAction(async () => {
    if ("problem" in read) return;
    setCame(null);
    const body: { arguments: JsonObject; tool?: string } = { arguments: read.value };
    if (isMcp && name !== undefined) body.tool = name;
    setCame(await call<ToolTest>("POST", `${path}/test`, { body }));
  });
  const isReady = "value" in read && (!isMcp || name !== undefined);
  const problem = fieldProblem(submit.error, "arguments") ?? fieldProblem(submit.error, "tool");
  return (
    <FormDialog
      title={`Try ${tool.title}`}
      action="Run"
      stay="Close"
      isReady={isReady}
      isThrowaway
      isWide
      fields={["arguments", "tool"]}
      submit={submit}
      onClose={onClose}
    >
      <Notice>This is a real call with real effects{tool.confirm && ", and no one is asked first"}.</Notice>
      {isMcp && listed.data === null && <Pending of={listed} lines={1} />}
      {listed.data?.ok === false && <Failed came={listed.data} tool={tool} />}
      {listed.data?.ok && offered.length === 0 && (
        <Problem>
          {tool.tools === null
            ? "The server offers no tools you can try here."
            : "The server offers none of the tools you chose. Edit the list of tools to use."}
        </Problem>
      )}
      {offered.length > 0 && (
        <SelectField
          label={`Tool (${offered.length} offered)`}
          value={name ?? ""}
          onValue={setChosen}
          options={offered.map((value) => ({ value, label: value }))}
          hint="The names the model sees."
        />
      )}
      <TextField
        label="Arguments"
        isCode
        rows={6}
        value={text}
        onValue={setText}
        hint="JSON. In a conversation, the model fills these in."
        error={"problem" in read ? read.problem : problem}
      />
      <div role="status" class="empty:hidden">
        {came?.ok && (
          <>
            <p class="mb-1.5 flex items-center gap-x-3">
              <Badge tone="good">Done</Badge>
              <span class="text-13 text-muted">{formatDuration(came.duration_ms)}</span>
            </p>
            <JsonText label="Result" text={came.result} />
          </>
        )}
      </div>
      {came?.ok === false && <Failed came={came} tool={tool} />}
    </FormDialog>
  );
}

/** What went wrong, in the words of the server, and what to do about it. */
function Failed({ came: { result, duration_ms }, tool }: { came: ToolTest; tool: Tool }) {
  return (
    <Problem>
      {result} <span class="text-ink">{adviceFor(result, tool)}</span>{" "}
      <span class="text-ink">({formatDuration(duration_ms)})</span>
    </Problem>
  );
}

function adviceFor(result: string, { url, mcp_url }: Tool): string {
  if (result.startsWith("The arguments are invalid")) return "Nothing was sent. Change the arguments above.";
  if (/\b40[13]\b/.test(result)) return "Check the headers, and that your server has the current secret.";
  if (/\b(404|405|410)\b/.test(result)) return `Check the URL: ${url ?? mcp_url}`;
  if (/within|in time/.test(result)) return "Make your server respond sooner, or raise the time limit.";
  return "Check the URL, and that your server is running. Its log may show more.";
}
