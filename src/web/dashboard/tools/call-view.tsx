/** Calls of tools: in a transcript and among the last ones of a tool, with what was sent and what came back. */
import type { ComponentChildren } from "preact";
import type { ToolCall } from "../lib/types.ts";
import { Badge, type Tone } from "../ui/states.tsx";

const states: Record<string, { tone: Tone; label: string }> = {
  waiting: { tone: "warn", label: "Waiting for the visitor" },
  running: { tone: "neutral", label: "No answer yet" },
  done: { tone: "good", label: "Done" },
  failed: { tone: "bad", label: "Failed" },
  refused: { tone: "bad", label: "Refused" },
  declined: { tone: "neutral", label: "Declined" },
};

type Call = Pick<ToolCall, "call_id" | "tool" | "arguments" | "result"> & { state: string };

/** In a transcript. */
export function CalledTools({ calls }: { calls: readonly Call[] }) {
  const failed = calls.filter(({ state }) => state === "failed").length;
  return (
    <details class="[&[open]]:w-full">
      <summary class="list-none text-accent underline">
        {calls.length} tool {calls.length === 1 ? "call" : "calls"}
        {failed > 0 && `, ${failed} failed`}
      </summary>
      <CallList calls={calls} />
    </details>
  );
}

interface CallListProps<Shown extends Call> {
  calls: readonly Shown[];
  /** Beside the state. */
  aside?(call: Shown): ComponentChildren;
  /** Below what came back. */
  foot?(call: Shown): ComponentChildren;
}

export function CallList<Shown extends Call>({ calls, aside, foot }: CallListProps<Shown>) {
  return (
    <ul class="mt-2 rounded-lg border border-line text-14" aria-label="Tool calls">
      {calls.map((call) => {
        const { tone = "neutral", label = call.state } = states[call.state] ?? {};
        return (
          <li key={call.call_id} class="border-line px-3.5 py-1.5 not-last:border-b">
            <details>
              <summary class="py-0.5 wrap-anywhere">
                <code class="font-mono text-13 text-ink">{call.tool}</code> <Badge tone={tone}>{label}</Badge>{" "}
                {aside?.(call)}
              </summary>
              <div class="space-y-2 py-1.5">
                <JsonText label="Arguments" text={JSON.stringify(call.arguments)} />
                {call.result !== null && <JsonText label="What the model received" text={call.result} />}
                {foot?.(call)}
              </div>
            </details>
          </li>
        );
      })}
    </ul>
  );
}

/** Text that may be JSON, which is then set over several lines. */
export function JsonText({ label, text }: { label: string; text: string }) {
  return (
    <div>
      <p class="text-13 text-muted">{label}</p>
      <pre
        dir="auto"
        class="rounded-lg border border-line bg-sunken p-3.5 font-mono text-13 leading-relaxed wrap-anywhere whitespace-pre-wrap"
      >
        {text === "" ? "–" : indent(text)}
      </pre>
    </div>
  );
}

function indent(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
