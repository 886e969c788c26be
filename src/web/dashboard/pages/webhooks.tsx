/** `/app/webhooks`: which of the account's servers receive events, and whether they confirm them. */
import { History, KeyRound, Pencil, Plus, Power, Send, Trash2 } from "lucide-preact";
import { useState } from "preact/hooks";
import { call } from "../lib/api.ts";
import { useAction, useList } from "../lib/load.ts";
import { describeMetadata } from "../lib/metadata-pairs.ts";
import type { Webhook } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { lazy } from "../ui/lazy.tsx";
import { ListFrame } from "../ui/list.tsx";
import { RowActions } from "../ui/menu.tsx";
import { PageHead } from "../ui/page.tsx";
import { Badge, Empty, Problem } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";
import type { AskedOfWebhook, WebhookAct } from "../webhooks/webhook-dialog.tsx";

const WebhookDialog = lazy(async () => (await import("../webhooks/webhook-dialog.tsx")).WebhookDialog);

export default function WebhooksPage() {
  const list = useList<Webhook>("/api/webhooks");
  const [asked, setAsked] = useState<AskedOfWebhook | null>(null);
  const create = (
    <Button icon={Plus} kind="primary" onClick={() => setAsked({ what: "create" })}>
      Add webhook
    </Button>
  );
  return (
    <>
      <PageHead title="Webhooks" actions={create}>
        Send events to your servers as they happen: conversations, replies, knowledge gaps.{" "}
        <a href="/docs/guides/webhooks" target="_blank" rel="noreferrer" class="text-accent underline">
          Event reference
        </a>
      </PageHead>
      <ListFrame
        list={list}
        empty={
          <Empty title="No webhooks yet" action={create}>
            Your server gets each event within moments, without polling.
          </Empty>
        }
      >
        {() => (
          <ul class="card" aria-label="Webhooks">
            {list.items.map((webhook) => (
              <WebhookRow
                key={webhook.id}
                webhook={webhook}
                onChanged={list.reload}
                onAct={(what) => setAsked({ what, webhook })}
              />
            ))}
          </ul>
        )}
      </ListFrame>
      {asked && <WebhookDialog asked={asked} onSaved={list.reload} onClose={() => setAsked(null)} />}
    </>
  );
}

const acts = [
  { what: "deliveries", label: "Deliveries", Icon: History },
  { what: "test", label: "Try…", Icon: Send },
  { what: "edit", label: "Edit…", Icon: Pencil },
  { what: "rotate", label: "New secret…", Icon: KeyRound },
  { what: "delete", label: "Delete…", Icon: Trash2, isRisk: true },
] as const;

interface WebhookRowProps {
  webhook: Webhook;
  onChanged(): Promise<void>;
  onAct(what: WebhookAct): void;
}

/** One webhook: where it is, which events it receives, whether it still does, and what can be done with it. */
function WebhookRow({ webhook, onChanged, onAct }: WebhookRowProps) {
  const { id, url, enabled, include_content, disabled_reason } = webhook;
  const enable = useAction(async () => {
    await call("PATCH", `/api/webhooks/${id}`, { body: { enabled: true } });
    say("Enabled. It receives events from now on.");
    await onChanged();
  });
  return (
    <li class="flex items-start gap-3 border-line px-4 py-3 not-last:border-b">
      <div class="min-w-0 flex-1">
        <div class="flex flex-wrap items-center gap-x-3 gap-y-1">
          <h2 class="min-w-0 font-medium wrap-anywhere">{url}</h2>
          {!enabled && <Badge tone={disabled_reason === null ? "neutral" : "bad"}>Disabled</Badge>}
          {include_content && <Badge tone="warn">Includes messages</Badge>}
        </div>
        <p class="mt-0.5 text-13 text-muted wrap-anywhere" dir="auto">
          {describeReach(webhook)}
        </p>
        {disabled_reason !== null && (
          <p class="mt-1.5 text-14 text-pretty text-bad wrap-anywhere">
            {disabled_reason}{" "}
            <span class="text-muted">
              Waiting events were dropped. Once your server responds again, enable it and resend what it needs.
            </span>
          </p>
        )}
        <Problem error={enable.error} class="mt-2" />
      </div>
      <RowActions
        name={url}
        items={acts
          .filter(({ what }) => what !== "deliveries" || !enabled)
          .map(({ what, ...item }) => ({ ...item, onChoose: () => onAct(what) }))}
        first={
          enabled
            ? { label: "Deliveries", Icon: History, onChoose: () => onAct("deliveries") }
            : { label: "Enable", Icon: Power, isBusy: enable.isBusy, onChoose: () => void enable.run() }
        }
      />
    </li>
  );
}

/** "All events of all companions", "3 events of companions with tenant = acme". */
function describeReach({ events, metadata }: Webhook): string {
  const which = events.includes("*") ? "All events" : events.length === 1 ? "1 event" : `${events.length} events`;
  return `${which} of ${metadata === null ? "all companions" : `companions with ${describeMetadata(metadata)}`}`;
}
