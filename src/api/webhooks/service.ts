/** What an account can do with its webhooks. */
import type {
  NewWebhook,
  SealedWebhook,
  WebhookCheck,
  WebhookPatch,
  WriteContext,
} from "../../contracts/store/store.ts";
import type { Services } from "../../core/dependencies.ts";
import { sealedWebhookName } from "../../core/events/delivery.ts";
import type { Attempt } from "../../core/events/events.ts";
import { AppError, type FieldError, invalidFields, missing, readId } from "../../domain/errors.ts";
import { type Delivery, isEventId, type Webhook } from "../../domain/webhook.ts";
import { findFilterProblem } from "../../http/schemas/metadata-filter.ts";
import { omitReadOnly, pickSound } from "../../http/schemas/named-object.ts";
import { makeWebhookSecret } from "../../lib/standard-webhooks.ts";
import { newWebhookBody, type WebhookPatchBody, webhookPatchBody } from "./model.ts";
import { WebhookObject } from "./responses.ts";

type WebhookServices = Pick<Services, "store" | "ids" | "sealing" | "outgoing" | "events" | "clock">;

/** A webhook that is about to be created; `write` commits it. */
export interface PreparedWebhook {
  made: Webhook;
  secret: string;
  write(context: WriteContext): Promise<unknown>;
}

export async function prepareWebhook(
  services: WebhookServices,
  accountId: string,
  sent: unknown,
  nowMs: number,
): Promise<PreparedWebhook> {
  const settable = omitReadOnly(sent, newWebhookBody, WebhookObject);
  requireNoErrors(services, newWebhookBody.listErrors(settable), settable);
  const {
    url,
    events,
    enabled = true,
    include_content: includeContent = false,
    metadata = null,
  } = newWebhookBody.check(settable);
  const id = services.ids.uuid();
  const { secret, sealedSecret } = await makeSecret(services, accountId, id);
  const webhook: NewWebhook = { id, url, events, includeContent, metadata, enabled, sealedSecret };
  const { sealedSecret: _, ...shown } = webhook;
  return {
    made: { ...shown, disabledReason: null, createdAt: nowMs, updatedAt: nowMs },
    secret,
    write: (context) => services.store.webhooks.create(accountId, webhook, context),
  };
}

export async function updateWebhook(
  services: WebhookServices,
  accountId: string,
  current: Webhook,
  { sent, check }: { sent: unknown; check: WebhookCheck | undefined },
  context: WriteContext,
): Promise<Webhook> {
  const settable = omitReadOnly(sent, webhookPatchBody, WebhookObject);
  requireNoErrors(services, webhookPatchBody.listErrors(settable), settable);
  const { include_content: includeContent, ...fields } = webhookPatchBody.check(settable);
  const patch: WebhookPatch = { ...fields, ...(includeContent === undefined ? {} : { includeContent }) };
  const isChanged = (field: keyof WebhookPatch) => JSON.stringify(patch[field]) !== JSON.stringify(current[field]);
  const changed = (Object.keys(patch) as (keyof WebhookPatch)[]).filter(isChanged);
  // Without a change, neither `updated_at` nor the audit log changes.
  if (changed.length === 0) return current;
  const changes = Object.fromEntries(changed.map((field) => [field, patch[field]]));
  const updated = await services.store.webhooks.update(accountId, current.id, changes, context, check);
  if (updated === null) throw missing("webhook");
  return updated;
}

export async function rotateSecret(
  services: WebhookServices,
  accountId: string,
  id: string,
  context: WriteContext,
): Promise<{ webhook: Webhook; secret: string }> {
  const { secret, sealedSecret } = await makeSecret(services, accountId, id);
  const webhook = await services.store.webhooks.replaceSecret(accountId, id, sealedSecret, context);
  if (webhook === null) throw missing("webhook");
  return { webhook, secret };
}

export async function getWebhook(
  { store }: Pick<Services, "store">,
  accountId: string,
  id: string,
): Promise<SealedWebhook> {
  const webhook = await store.webhooks.find(accountId, readId(id, "webhook"));
  if (webhook === null) throw missing("webhook");
  return webhook;
}

/** One attempt now, whatever became of those before, and outside of the conversation's order. */
export async function retryDelivery(
  services: WebhookServices,
  accountId: string,
  webhook: SealedWebhook,
  id: string,
): Promise<Delivery> {
  const { webhooks } = services.store;
  const isKnown = isEventId(id) && (await webhooks.findDelivery(accountId, webhook.id, id)) !== null;
  if (!isKnown) throw missing("delivery");
  const event = await webhooks.findEvent(webhook.id, id);
  if (event === null) throw new AppError("conflict", "What the event was about has been deleted.");
  const { status, problem }: Attempt = await services.events.send({ accountId, webhook, event });
  const delivery = await webhooks.noteRetry(webhook.id, id, { status, problem }, services.clock.nowMs());
  if (delivery === null) throw missing("delivery");
  return delivery;
}

async function makeSecret({ ids, sealing }: WebhookServices, accountId: string, id: string) {
  const secret = makeWebhookSecret(ids.bytes);
  return { secret, sealedSecret: await sealing.seal(sealedWebhookName(accountId, id), secret) };
}

/** With what a schema cannot state; nothing of fields that are at fault already. */
function requireNoErrors({ outgoing }: WebhookServices, known: readonly FieldError[], sent: unknown): void {
  const { url, metadata } = pickSound<WebhookPatchBody>(sent, known);
  const errors = [...known];
  const fault = url === undefined ? null : outgoing.findFault(url);
  if (fault !== null) errors.push({ param: "url", detail: fault });
  const problem = metadata == null ? null : findFilterProblem(metadata);
  if (problem !== null) errors.push({ param: "metadata", detail: problem });
  if (errors.length > 0) throw invalidFields(errors);
}
