/** Calls a tool as the model would, and shows what comes of it; of an MCP server, first which tools it has. */
import { useState } from "preact/hooks";
import { call, fieldProblem } from "../lib/api.ts";
import { formatDuration } from "../lib/format.ts";
import { type JsonObject, readJsonObject } from "../lib/json-text.ts";
import { useAction, useLoad } from "../lib/load.ts";
import type { Json, Tool, ToolTest } from "../lib/types.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { SelectField, TextField } from "../ui/field.tsx";
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
      action="Call it"
      stay="Close"
      isReady={isReady}
      isThrowaway
      isWide
      isTold={problem !== undefined}
      submit={submit}
      onClose={onClose}
    >
      <Notice>
        This is a real call, without a visitor: its effects are real
        {tool.confirm && ", and no one is asked first"}.
      </Notice>
      {isMcp && listed.data === null && <Pending of={listed} lines={1} />}
      {listed.data?.ok === false && <Failed came={listed.data} tool={tool} />}
      {listed.data?.ok && offered.length === 0 && (
        <Problem>
          {tool.tools === null
            ? "The server offers no tool that can be called from here."
            : "The server offers none of the tools that are chosen: edit which of its tools it may use."}
        </Problem>
      )}
      {offered.length > 0 && (
        <SelectField
          label={`Which of its tools (${offered.length})`}
          value={name ?? ""}
          onValue={setChosen}
          options={offered.map((value) => ({ value, label: value }))}
          hint="As they are offered to the model."
        />
      )}
      <TextField
        label="Arguments"
        isCode
        rows={6}
        value={text}
        onValue={setText}
        hint="As JSON. In a conversation the model fills them in."
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
  if (/\b40[13]\b/.test(result)) return "Check its headers, and whether it has the current secret.";
  if (/\b(404|405|410)\b/.test(result)) return `Check the address: ${url ?? mcp_url}`;
  if (/within|in time/.test(result)) return "Make it respond sooner, or allow more seconds.";
  return "Check the address, and whether the server runs; its log has more.";
}
