/** What one reply of a test chat took: time, tokens and money, what it used, and on request the prompt that was sent. */
import { useState } from "preact/hooks";
import { formatDuration, formatNumber } from "../lib/format.ts";
import { formatMoney } from "../lib/money.ts";
import { CalledTools } from "../tools/call-view.tsx";
import { Dialog } from "../ui/dialog.tsx";
import type { Trace } from "./test-chat.ts";

/** `isVersionShown`: where replies of several are side by side. */
export function TraceDetails({ trace, isVersionShown = false }: { trace: Trace; isVersionShown?: boolean }) {
  const [isOpen, setIsOpen] = useState(false);
  const about = trace.tokens_estimated ? "≈ " : "";
  const { cost_micros: cost, companion_version: version, tool_calls: calls, sources } = trace;
  return (
    <>
      {isVersionShown && <span>{version === null ? "draft" : `version ${version}`}</span>}
      {trace.first_text_ms !== null && <span>first text {formatDuration(trace.first_text_ms)}</span>}
      <span>total {formatDuration(trace.total_ms)}</span>
      <span>
        {about}
        {formatNumber(trace.input_tokens)} in, {about}
        {formatNumber(trace.output_tokens)} out
        {trace.reasoning_tokens > 0 && `, ${formatNumber(trace.reasoning_tokens)} of it thought`}
      </span>
      {cost !== null && <span>{formatMoney(cost)}</span>}
      {trace.no_answer && <span>no source fitted</span>}
      <button type="button" class="text-accent underline" onClick={() => setIsOpen(true)}>
        Prompt sent
      </button>
      {calls.length > 0 && <CalledTools calls={calls.map((call, at) => ({ ...call, call_id: String(at) }))} />}
      {sources.length > 0 && <Sources sources={sources} />}
      {isOpen && (
        <Dialog title="Prompt sent" onClose={() => setIsOpen(false)} isWide>
          <p class="mb-4 text-muted">
            {trace.model}
            {trace.temperature !== null && `, temperature ${trace.temperature}`}
            {trace.reasoning_effort !== null && `, effort ${trace.reasoning_effort}`}, at most{" "}
            {formatNumber(trace.max_output_tokens)} tokens
          </p>
          <ol class="space-y-3">
            {trace.messages.map((message, index) => (
              // Keyed by index, since a prompt never changes.
              <li key={index} class="rounded-xl border border-line">
                <p class="border-b border-line px-3.5 py-1.5 font-mono text-12 text-muted">{message.role}</p>
                <p dir="auto" class="px-3.5 py-2.5 text-14 wrap-anywhere whitespace-pre-wrap">
                  {message.text}
                </p>
              </li>
            ))}
          </ol>
        </Dialog>
      )}
    </>
  );
}

/** Their passages stand in the prompt. */
function Sources({ sources }: { sources: Trace["sources"] }) {
  const cited = sources.filter((source) => source.cited).length;
  return (
    <details class="w-full">
      <summary class="text-accent underline">
        Sources: {sources.length} given, {cited === 0 ? "none" : cited} cited
      </summary>
      <ol class="mt-2 rounded-xl border border-line text-14" aria-label="Sources">
        {sources.map(({ n, title, page, cited }) => (
          <li key={n} class="border-line px-3.5 py-1.5 not-last:border-b wrap-anywhere">
            [{n}] <span dir="auto">{title}</span>
            {page !== null && `, page ${page}`}
            {cited && ", cited"}
          </li>
        ))}
      </ol>
    </details>
  );
}
