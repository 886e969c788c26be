/** What was sent to a webhook and what waits for it, with another attempt by hand. */
import { call } from "../lib/api.ts";
import { useAction, useEvery, useList } from "../lib/load.ts";
import type { Webhook, WebhookDelivery } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ListFrame } from "../ui/list.tsx";
import { Time } from "../ui/page.tsx";
import { Badge, Problem, type Tone } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";
import { eventWords } from "./webhook-draft.ts";

const refreshMs = 5000;

const states: Readonly<Record<WebhookDelivery["state"], { tone: Tone; label: string }>> = {
  waiting: { tone: "accent", label: "Waiting" },
  delivered: { tone: "good", label: "Delivered" },
  failed: { tone: "bad", label: "Failed" },
  dropped: { tone: "neutral", label: "Dropped" },
};

interface DeliveriesProps {
  /** Of the webhook. */
  path: string;
  webhook: Webhook;
  onClose(): void;
}

export function Deliveries({ path, webhook, onClose }: DeliveriesProps) {
  const list = useList<WebhookDelivery>(`${path}/deliveries`);
  useEvery(refreshMs, () => void list.reload());
  const put = (next: WebhookDelivery) => list.update((all) => all.map((one) => (one.id === next.id ? next : one)));
  return (
    <Dialog title="Deliveries" onClose={onClose} isWide>
      <p class="mb-4 text-muted wrap-anywhere">{webhook.url}</p>
      <ListFrame
        list={list}
        empty={
          <p class="text-pretty text-muted">
            Nothing sent in the last 30 days, and nothing waiting. Tests aren't listed.
          </p>
        }
      >
        {() => (
          <ul class="rounded-lg border border-line" aria-label="Deliveries">
            {list.items.map((delivery) => (
              <Delivery key={delivery.id} path={`${path}/deliveries`} delivery={delivery} onSent={put} />
            ))}
          </ul>
        )}
      </ListFrame>
    </Dialog>
  );
}

interface DeliveryProps {
  path: string;
  delivery: WebhookDelivery;
  onSent(delivery: WebhookDelivery): void;
}

function Delivery({ path, delivery, onSent }: DeliveryProps) {
  const { id, type, state, attempts, error, conversation_id, created_at, next_attempt_at } = delivery;
  const { tone, label } = states[state];
  const retry = useAction(async () => {
    const next = await call<WebhookDelivery>("POST", `${path}/${encodeURIComponent(id)}/retry`);
    onSent(next);
    say(next.state === "delivered" ? "Delivered." : "Delivery failed.");
  });
  return (
    <li class="border-line px-3.5 py-2.5 not-last:border-b">
      <div class="flex flex-wrap items-center justify-between gap-x-3 gap-y-1">
        <div class="min-w-0 flex-1 basis-56">
          <p class="flex flex-wrap items-center gap-x-3 gap-y-1">
            <span class="font-medium">{eventWords[type]}</span>
            <Badge tone={tone}>{label}</Badge>
          </p>
          <p class="mt-0.5 flex flex-wrap gap-x-3 text-13 text-muted">
            <Time at={created_at} />
            <span>{attempts === 1 ? "1 attempt" : `${attempts} attempts`}</span>
            {state === "waiting" && (
              <span>
                {next_attempt_at === null ? (
                  "behind an earlier one of its conversation"
                ) : (
                  <>
                    next <Time at={next_attempt_at} />
                  </>
                )}
              </span>
            )}
            {conversation_id !== null && (
              <a href={`/app/conversations/${conversation_id}`} class="text-accent underline">
                Conversation
              </a>
            )}
          </p>
          {error !== null && (
            <p class={`mt-0.5 text-13 wrap-anywhere ${state === "delivered" ? "text-muted" : "text-bad"}`}>{error}</p>
          )}
        </div>
        <Button isBusy={retry.isBusy} onClick={() => void retry.run()}>
          Send again
          <span class="sr-only"> {eventWords[type]}</span>
        </Button>
      </div>
      <Problem error={retry.error} class="mt-2" />
    </li>
  );
}
