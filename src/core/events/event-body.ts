/** The JSON of an event as it is sent: the same at every attempt, as long as nothing of it is erased. */
import type { NewEvent, WriteContext } from "../../contracts/store/store.ts";
import type { BudgetSubject } from "../../domain/budget.ts";
import { textOf } from "../../domain/conversation.ts";
import type { JsonObject } from "../../domain/json.ts";
import { isVerifiedId, visitorFactsOf } from "../../domain/visitor.ts";
import { type EventContent, type StoredEvent, testEventType } from "../../domain/webhook.ts";
import { toRfc3339 } from "../../lib/clock.ts";
import type { Services } from "../dependencies.ts";

type BodyServices = Pick<Services, "store" | "visitors" | "sealing">;

/** Of transcripts, in UTF-16 code units; what is beyond that is left out. */
const maxText = 1024 * 1024;

const toBody = (type: string, atMs: number, data: object) => JSON.stringify({ type, timestamp: toRfc3339(atMs), data });

export function makeTestBody(webhookId: string, nowMs: number): string {
  return toBody(testEventType, nowMs, { webhook_id: webhookId });
}

/** Rejects as the store does. Names that cannot be opened any more are null. */
export async function makeEventBody(services: BodyServices, event: StoredEvent): Promise<string> {
  const { type, createdAt, companionId, conversationId, sessionId } = event;
  if (type === "budget.reached") return toBody(type, createdAt, toWireBudget(event.data));
  if (type === "visitor.erased") return toBody(type, createdAt, await readErased(services, event));
  if (companionId === null) return toBody(type, createdAt, event.data);
  return toBody(type, createdAt, {
    ...{ companion_id: companionId, conversation_id: conversationId, session_id: sessionId },
    ...(await readVisitor(services, event)),
    ...event.data,
    ...(event.content !== null &&
      conversationId !== null &&
      (await readWords(services, conversationId, event.content))),
  });
}

function toWireBudget({ subject, ...data }: JsonObject): object {
  const of = subject as BudgetSubject;
  return {
    ...data,
    account: "account" in of ? true : null,
    key_id: "keyId" in of ? of.keyId : null,
    companion_id: "companionId" in of ? of.companionId : null,
    metadata: "metadata" in of ? of.metadata : null,
  };
}

async function readVisitor({ visitors }: BodyServices, { visitorId, sealedVisitor }: StoredEvent) {
  if (!isVerifiedId(visitorId)) return { visitor_id: visitorId };
  const claims = sealedVisitor === null ? null : await visitors.open(visitorId, sealedVisitor);
  return { sub: claims?.sub ?? null };
}

async function readWords({ store }: BodyServices, conversationId: string, content: EventContent): Promise<object> {
  const words = await store.webhooks.readWords(conversationId, Object.values(content).flat());
  let left = maxText;
  function read(id: string) {
    const message = words.get(id);
    const text = message && textOf(message);
    if (message === undefined || text === undefined || text.length > left) return null;
    left -= text.length;
    return { role: message.role, text };
  }
  const named = Object.entries(content).map(([name, ids]) => {
    if (typeof ids === "string") return [name, read(ids)?.text ?? null];
    return [name, ids.flatMap((id) => read(id) ?? [])];
  });
  return Object.fromEntries(named);
}

/**
 * That a visitor is being erased, by the name that the caller has for them: sealed, and gone once it was delivered. Null if
 * there is no one to notify: then nothing is sealed, which would make a key.
 */
export async function makeErasedEvent(
  { store, sealing }: Pick<Services, "store" | "sealing">,
  { accountId, companionId }: { accountId: string; companionId: string },
  name: string,
  { auditId, nowMs, hasWebhooks }: WriteContext,
): Promise<NewEvent | null> {
  if (hasWebhooks === false) return null;
  const [webhooks, companion] = await Promise.all([
    store.webhooks.list(accountId, { limit: 1, afterId: null }),
    store.companions.find(accountId, companionId),
  ]);
  if (webhooks.items.length === 0 || companion === null) return null;
  const id = `msg_${auditId}`;
  return {
    ...{ id, accountId, type: "visitor.erased", atMs: nowMs, facts: visitorFactsOf(companion), content: null },
    // Not as its visitor's, of whom nothing stays.
    ...{ companionId: null, sessionId: null, visitorId: null },
    sealedVisitor: await sealing.seal(sealedErasedName(id), name),
    data: { companion_id: companionId },
  };
}

async function readErased({ sealing }: BodyServices, { id, data, sealedVisitor }: StoredEvent): Promise<object> {
  const name = await sealing.open(sealedErasedName(id), sealedVisitor ?? "").catch(() => null);
  return { ...data, visitor_id: name, sub: name };
}

const sealedErasedName = (eventId: string) => `erased visitor:${eventId}`;
