/** The cost of one test turn, and on request the prompt that was sent. */
import { useState } from "preact/hooks";
import { formatDuration, formatNumber } from "../lib/format.ts";
import { Dialog } from "../ui/dialog.tsx";
import type { Trace } from "./test-chat.ts";

export function TraceDetails({ trace }: { trace: Trace }) {
  const [isOpen, setIsOpen] = useState(false);
  const about = trace.tokens_estimated ? "≈ " : "";
  return (
    <>
      {trace.first_text_ms !== null && <span>first text {formatDuration(trace.first_text_ms)}</span>}
      <span>total {formatDuration(trace.total_ms)}</span>
      <span>
        {about}
        {formatNumber(trace.input_tokens)} in, {about}
        {formatNumber(trace.output_tokens)} out
        {trace.reasoning_tokens > 0 && `, ${formatNumber(trace.reasoning_tokens)} of it thought`}
      </span>
      <button type="button" class="text-accent underline" onClick={() => setIsOpen(true)}>
        Prompt sent
      </button>
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
                <p class="border-b border-line px-3.5 py-1.5 font-mono text-[0.82rem] text-muted">{message.role}</p>
                <p dir="auto" class="px-3.5 py-2.5 text-[0.94rem] wrap-anywhere whitespace-pre-wrap">
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
