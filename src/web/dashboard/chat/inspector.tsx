/** What each reply of the playground took: time, tokens and money, passages, tools, and the prompt that was sent. */
import { PanelRightOpen } from "lucide-preact";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { formatDuration, formatNumber } from "../lib/format.ts";
import { formatMoney } from "../lib/money.ts";
import { CallList } from "../tools/call-view.tsx";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Badge, Problem } from "../ui/states.tsx";
import type { Reply, Trace } from "./trial.ts";

/** Of a message, in characters. */
const maxTitle = 120;

/** The newest first, and open. */
export function Replies({ replies }: { replies: readonly Reply[] }) {
  if (replies.length === 0)
    return <p class="text-pretty text-muted">See what was sent, timing and cost for each reply.</p>;
  return (
    <ol aria-label="Replies" class="-my-2.5">
      {replies.toReversed().map((reply, at) => (
        <li key={reply.id} class="border-line not-last:border-b">
          <details open={at === 0} class="py-2.5">
            <summary class="cursor-pointer font-medium wrap-anywhere">
              <span dir="auto">{[...reply.message].slice(0, maxTitle).join("")}</span>
            </summary>
            <div class="space-y-5 pt-3 pb-2">
              {reply.problem && <p class="text-bad wrap-anywhere">{reply.problem}</p>}
              {reply.trace ? (
                <Facts trace={reply.trace} />
              ) : (
                !reply.problem && <p class="text-muted">Known when the reply is complete.</p>
              )}
            </div>
          </details>
        </li>
      ))}
    </ol>
  );
}

/** Beside a chat, where there is room. */
export function Inspector({ head, children }: { head?: ComponentChildren; children: ComponentChildren }) {
  return (
    <aside aria-labelledby="inspector" class="card hidden min-h-0 flex-col lg:flex">
      <div class="flex min-h-13 flex-wrap items-center justify-between gap-2 border-b border-line px-4 py-2">
        <h2 id="inspector" class="text-14 font-semibold">
          Inspector
        </h2>
        {head}
      </div>
      <section
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
        tabIndex={0}
        aria-label="Details"
        class="min-h-0 flex-1 overflow-y-auto px-4 py-2.5 text-14"
      >
        {children}
      </section>
    </aside>
  );
}

interface LastReplyProps {
  replies: readonly Reply[];
  label: string;
  /** The inspector stands beside it, on wide screens. */
  isBeside?: boolean;
}

/** Under a chat: the last reply in a line, and what opens the inspector. */
export function LastReply({ replies, label, isBeside = false }: LastReplyProps) {
  const [isOpen, setIsOpen] = useState(false);
  const { trace, problem } = replies.at(-1) ?? {};
  return (
    <>
      {problem && <Problem class="m-2">{problem}</Problem>}
      <div
        class={`flex min-h-13 items-center gap-3 border-t border-line py-2 pr-2 pl-4 text-13 text-muted ${isBeside ? "lg:hidden" : ""}`}
      >
        <p class="flex min-w-0 flex-1 flex-wrap gap-x-3" role="status">
          {trace && (
            <>
              {!isBeside && <span>{nameVersion(trace)}</span>}
              <span>{formatDuration(trace.total_ms)}</span>
              <span>{countTokens(trace)}</span>
              {trace.cost_micros !== null && <span>{formatMoney(trace.cost_micros)}</span>}
            </>
          )}
        </p>
        <Button icon={PanelRightOpen} disabled={replies.length === 0} onClick={() => setIsOpen(true)}>
          Inspect
        </Button>
      </div>
      {isOpen && (
        <Dialog title={label} onClose={() => setIsOpen(false)} isWide>
          <Replies replies={replies} />
        </Dialog>
      )}
    </>
  );
}

const nameVersion = ({ companion_version: version }: Trace) => (version === null ? "draft" : `version ${version}`);

function countTokens({ input_tokens, output_tokens, tokens_estimated }: Trace): string {
  const about = tokens_estimated ? "≈ " : "";
  return `${about}${formatNumber(input_tokens)} in, ${about}${formatNumber(output_tokens)} out`;
}

function Facts({ trace }: { trace: Trace }) {
  const { cost_micros: cost, tool_calls: calls, sources, first_text_ms: firstTextMs } = trace;
  const cited = sources.filter((source) => source.cited).length;
  return (
    <>
      <Part title="Timing">
        <dl class="grid grid-cols-2 gap-x-4 gap-y-1 tabular-nums">
          {firstTextMs !== null && <Fact name="First text">{formatDuration(firstTextMs)}</Fact>}
          <Fact name="Total">{formatDuration(trace.total_ms)}</Fact>
        </dl>
        {firstTextMs !== null && (
          <svg aria-hidden="true" class="mt-2 h-1.5 w-full rounded-full bg-tint">
            <rect class="fill-accent" height="100%" width={`${(100 * firstTextMs) / Math.max(1, trace.total_ms)}%`} />
          </svg>
        )}
      </Part>
      <Part title="Tokens and cost">
        <dl class="grid grid-cols-2 gap-x-4 gap-y-1 tabular-nums">
          <Fact name="Tokens">{countTokens(trace)}</Fact>
          {trace.reasoning_tokens > 0 && <Fact name="Of it reasoning">{formatNumber(trace.reasoning_tokens)}</Fact>}
          <Fact name="Cost">{cost === null ? "No price" : formatMoney(cost)}</Fact>
        </dl>
      </Part>
      {(sources.length > 0 || trace.no_answer) && (
        <Part title={sources.length === 0 ? "Passages" : `Passages: ${cited} of ${sources.length} cited`}>
          {trace.no_answer && <p class="text-muted">No matching source</p>}
          <ol aria-label="Passages">
            {sources.map(({ n, title, page, cited }) => (
              <li key={n} class="flex items-baseline gap-2 py-0.5">
                <span class="text-muted tabular-nums">{n}</span>
                <span dir="auto" class="min-w-0 flex-1 wrap-anywhere">
                  {title}
                  {page !== null && `, page ${page}`}
                </span>
                {cited && <Badge tone="good">Cited</Badge>}
              </li>
            ))}
          </ol>
        </Part>
      )}
      {calls.length > 0 && (
        <Part title="Tools">
          <CallList calls={calls.map((call, at) => ({ ...call, call_id: String(at) }))} />
        </Part>
      )}
      <details>
        <summary class="cursor-pointer text-13 font-medium text-muted">Prompt sent</summary>
        <p class="mt-2 text-13 text-muted">
          {trace.model}
          {trace.temperature !== null && `, temperature ${trace.temperature}`}
          {trace.reasoning_effort !== null && `, effort ${trace.reasoning_effort}`}, at most{" "}
          {formatNumber(trace.max_output_tokens)} tokens
        </p>
        <ol class="mt-2 space-y-2" aria-label="Prompt sent">
          {trace.messages.map((message, index) => (
            // Keyed by index, since a prompt never changes.
            <li key={index} class="rounded-lg bg-sunken px-3 py-2">
              <p class="font-mono text-12 text-muted">{message.role}</p>
              <p dir="auto" class="mt-0.5 wrap-anywhere whitespace-pre-wrap">
                {message.text}
              </p>
            </li>
          ))}
        </ol>
      </details>
    </>
  );
}

function Part({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section>
      <h3 class="mb-1.5 text-13 font-medium text-muted">{title}</h3>
      {children}
    </section>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <>
      <dt class="text-muted">{name}</dt>
      <dd class="text-right">{children}</dd>
    </>
  );
}
