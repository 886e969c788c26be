/** Where someone on the team writes to a visitor: Enter sends, and what is typed is kept through everything. */
import { SendHorizontal } from "lucide-preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { call } from "../lib/api.ts";
import { formatNumber } from "../lib/format.ts";
import { use } from "../lib/state.ts";
import type { ConversationWithMessages } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { Form } from "../ui/field.tsx";
import { lazy } from "../ui/lazy.tsx";
import { Problem } from "../ui/states.tsx";
import type { Outbox } from "./outbox.ts";
import { reachWords } from "./words.ts";

const RefusalDialog = lazy(async () => (await import("./refusal-dialog.tsx")).RefusalDialog);

/** Marks lapse after six seconds. */
const typingAgainMs = 3000;
const maxTextLength = 4000;

interface ComposerProps {
  conversation: ConversationWithMessages;
  path: string;
  outbox: Outbox;
}

export function Composer({ conversation, path, outbox }: ComposerProps) {
  const id = useId();
  const { draft } = use(outbox.kept);
  const trouble = use(outbox.trouble);
  const refusal = use(outbox.refusal);
  const reportTyping = useTyping(path);
  const { handoff, message_count } = conversation;
  /** Texts that were not sent are joined to one draft. */
  const excess = draft.trim().length - maxTextLength;

  function send(): void {
    if (draft.trim() === "" || excess > 0) return;
    outbox.submit(message_count);
    reportTyping(false);
  }

  return (
    <Form class="border-t border-line p-3" onSubmit={send}>
      {trouble !== null && (
        <Problem class="mb-2">{trouble} Your message is saved, and we keep trying to send it.</Problem>
      )}
      {excess > 0 && (
        <Problem class="mb-2">
          {`Over the limit by ${formatNumber(excess)}: a message has up to ${formatNumber(maxTextLength)} characters. Send it in parts.`}
        </Problem>
      )}
      <div class="flex items-end gap-2">
        <textarea
          aria-label="Message to the visitor"
          aria-describedby={id}
          aria-invalid={excess > 0}
          dir="auto"
          rows={Math.min(8, Math.max(2, draft.split("\n").length))}
          maxLength={maxTextLength}
          class="control min-w-0 flex-1"
          placeholder="Write to the visitor"
          value={draft}
          onInput={({ currentTarget: { value } }) => {
            outbox.setDraft(value);
            reportTyping(value.trim() !== "");
          }}
          onKeyDown={(event) => {
            // While a word is being composed, Enter ends the word.
            if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            send();
          }}
        />
        <Button type="submit" kind="primary" icon={SendHorizontal} disabled={draft.trim() === "" || excess > 0}>
          Send
        </Button>
      </div>
      <p id={id} class="mt-1.5 text-13 text-muted">
        {handoff && reachWords[handoff.reach]}
        {conversation.state !== "person" && " Sending a message takes over the conversation."}
      </p>
      {refusal && <RefusalDialog refusal={refusal} conversation={conversation} path={path} outbox={outbox} />}
    </Form>
  );
}

/** Shows colleagues and the visitor that someone types here, but not what. */
function useTyping(path: string): (isTyping: boolean) => void {
  const reportedMs = useRef(0);
  function report(isTyping: boolean): void {
    const nowMs = Date.now();
    if (isTyping ? nowMs - reportedMs.current < typingAgainMs : reportedMs.current === 0) return;
    reportedMs.current = isTyping ? nowMs : 0;
    // A mark that is lost costs nothing.
    call("POST", `${path}/typing`, { body: { typing: isTyping } }).catch(() => {});
  }
  useEffect(() => () => report(false), [path]);
  return report;
}
