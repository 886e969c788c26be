/** What a webhook's buttons lead to, loaded with the first of them. */
import { useState } from "preact/hooks";
import { call } from "../lib/api.ts";
import { formatDuration } from "../lib/format.ts";
import { useAction } from "../lib/load.ts";
import type { NewWebhookAnswer, Webhook, WebhookAttempt } from "../lib/types.ts";
import { ConfirmDelete, FormDialog } from "../ui/dialog.tsx";
import { EditDialog } from "../ui/guarded-save.tsx";
import { RotateSecret, SecretShown } from "../ui/secret.tsx";
import { Badge, Problem } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";
import { Deliveries } from "./deliveries.tsx";
import { findWebhookChanges, toWebhookBody, toWebhookDraft, type WebhookDraft } from "./webhook-draft.ts";
import { WebhookForm } from "./webhook-form.tsx";

export type WebhookAct = "edit" | "test" | "deliveries" | "rotate" | "delete";
export type AskedOfWebhook = { what: WebhookAct; webhook: Webhook } | { what: "create" };

interface WebhookDialogProps {
  asked: AskedOfWebhook;
  onSaved(): Promise<void>;
  onClose(): void;
}

export function WebhookDialog({ asked, onSaved, onClose }: WebhookDialogProps) {
  if (asked.what === "create") return <MakeWebhook onSaved={onSaved} onClose={onClose} />;
  const { what, webhook } = asked;
  const path = `/api/webhooks/${webhook.id}`;
  if (what === "test") return <TestWebhook path={path} webhook={webhook} onClose={onClose} />;
  if (what === "deliveries") return <Deliveries path={path} webhook={webhook} onClose={onClose} />;
  if (what === "rotate") return <RotateSecret path={path} name="the webhook" onClose={onClose} />;
  if (what === "edit") {
    return (
      <EditDialog<Webhook, WebhookDraft>
        path={path}
        name="the webhook"
        toDraft={toWebhookDraft}
        toBody={toWebhookBody}
        findChanged={findWebhookChanges}
        onSaved={onSaved}
        onClose={onClose}
      >
        {(kept, save) => <WebhookForm webhook={kept} onSave={save} onClose={onClose} />}
      </EditDialog>
    );
  }
  return (
    <ConfirmDelete title="Delete this webhook?" path={path} onDone={onSaved} onClose={onClose}>
      <p class="wrap-anywhere">{webhook.url} will receive no more events. Waiting ones are deleted.</p>
    </ConfirmDelete>
  );
}

function MakeWebhook({ onSaved, onClose }: Omit<WebhookDialogProps, "asked">) {
  const [secret, setSecret] = useState<string | null>(null);
  async function create(draft: WebhookDraft): Promise<void> {
    const made = await call<NewWebhookAnswer>("POST", "/api/webhooks", { body: toWebhookBody(draft) });
    say("Added.");
    await onSaved();
    setSecret(made.secret ?? "");
  }
  if (secret !== null) return <SecretShown name="the webhook" secret={secret} onClose={onClose} />;
  return <WebhookForm webhook={null} onSave={create} onClose={onClose} />;
}

interface TestProps {
  path: string;
  webhook: Webhook;
  onClose(): void;
}

function TestWebhook({ path, webhook, onClose }: TestProps) {
  const [came, setCame] = useState<WebhookAttempt | null>(null);
  const submit = useAction(async () => {
    setCame(null);
    setCame(await call<WebhookAttempt>("POST", `${path}/test`));
  });
  return (
    <FormDialog title="Test the webhook" action="Send" stay="Close" isThrowaway submit={submit} onClose={onClose}>
      <p class="text-muted wrap-anywhere">
        Sends <code class="font-mono text-[0.92em]">webhook.test</code> to {webhook.url}, signed like every event
        {!webhook.enabled && ", although it is disabled"}.
      </p>
      <div role="status" class="empty:hidden">
        {came?.ok && (
          <p class="flex items-center gap-x-3">
            <Badge tone="good">Confirmed</Badge>
            <span class="text-13 text-muted">
              Status {came.status_code}, {formatDuration(came.duration_ms)}
            </span>
          </p>
        )}
      </div>
      {came?.ok === false && (
        <Problem>
          {came.error}{" "}
          <span class="text-ink">
            {adviceFor(came)} ({formatDuration(came.duration_ms)})
          </span>
        </Problem>
      )}
    </FormDialog>
  );
}

function adviceFor({ status_code: status }: WebhookAttempt): string {
  if (status === null) return "Check the URL, and that your server is running.";
  if (status === 401 || status === 403) return "Check whether the server has the current secret.";
  if (status >= 300 && status < 400) return "Redirects aren't followed. Enter the final URL.";
  if (status === 404 || status === 405) return "Check the URL.";
  return "Events that don't get a 2xx are retried later. See your server's log for details.";
}
