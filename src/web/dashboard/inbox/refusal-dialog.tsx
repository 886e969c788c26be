/** Why a message was not sent, and what its writer decides: a colleague wrote meanwhile, or has the conversation by now. */
import { call } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import type { ConversationWithMessages } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { Dialog, DialogActions, MessageDialog } from "../ui/dialog.tsx";
import { Problem } from "../ui/states.tsx";
import type { Outbox, Refusal } from "./outbox.ts";

interface RefusalProps {
  refusal: Refusal;
  conversation: ConversationWithMessages;
  path: string;
  outbox: Outbox;
}

export function RefusalDialog({ refusal, conversation, path, outbox }: RefusalProps) {
  const takeOver = useAction(async (from: string) => {
    await call("POST", `${path}/take`, { body: { from } });
    outbox.sendAnyway(conversation.message_count);
  });
  const keep = () => outbox.takeBack();
  if (refusal.why === "refused") {
    return (
      <MessageDialog title="Not sent" action="Back to my text" onClose={keep}>
        <p>{refusal.sentence}</p>
        <p class="mt-3 text-muted">We kept your text.</p>
      </MessageDialog>
    );
  }
  if (refusal.why === "held") {
    const { id, name } = refusal.person;
    return (
      <Dialog title={`${name ?? "A colleague"} has this conversation`} onClose={keep}>
        <p class="text-muted">Your message wasn't sent, so the visitor doesn't get two answers. We kept your text.</p>
        <Problem error={takeOver.error} class="mt-4" />
        <DialogActions>
          <Button onClick={keep}>Back to my text</Button>
          <Button kind="primary" isBusy={takeOver.isBusy} onClick={() => void takeOver.run(id)}>
            Take over and send
          </Button>
        </DialogActions>
      </Dialog>
    );
  }
  const { messages } = refusal;
  return (
    <Dialog title="A colleague just replied" onClose={keep}>
      <p class="text-muted">Your message wasn't sent. The visitor has received this in the meantime:</p>
      <ul class="mt-3 space-y-3">
        {messages.map(({ seq, author, text }) => (
          <li key={seq} class="rounded-lg bg-sunken px-3.5 py-2.5">
            <p dir="auto" class="text-13 font-medium text-accent">
              {author.name ?? "A colleague"}
            </p>
            <p dir="auto" class="wrap-anywhere whitespace-pre-wrap">
              {text}
            </p>
          </li>
        ))}
      </ul>
      <DialogActions>
        <Button onClick={keep}>Back to my text</Button>
        <Button
          kind="primary"
          onClick={() => outbox.sendAnyway(Math.max(conversation.message_count, ...messages.map(({ seq }) => seq)))}
        >
          Send anyway
        </Button>
      </DialogActions>
    </Dialog>
  );
}
