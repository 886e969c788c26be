/** Webhooks and the outbox of their deliveries. Each engine stores events in its own way, since turns tell them. */
import { toPage } from "../../../contracts/store/page.ts";
import type {
  AttemptOutcome,
  DueDelivery,
  SealedWebhook,
  WebhookPatch,
  WebhookStore,
} from "../../../contracts/store/webhooks.ts";
import type { WriteContext } from "../../../contracts/store/write-context.ts";
import { type MessageRole, textParts } from "../../../domain/conversation.ts";
import { AppError } from "../../../domain/errors.ts";
import { factsOfFilter, type VisitorKeyFilter } from "../../../domain/visitor.ts";
import { type Delivery, mostWebhooks, type StoredEvent, type Webhook } from "../../../domain/webhook.ts";
import { toLaterMs } from "../../../lib/clock.ts";
import { beforeAll } from "../rows/budgets.ts";
import { changes } from "./changes.ts";
import { addRemoval } from "./removals.ts";
import { all, columns, get, insert, lockRows, run, type Script, type ScriptRunner } from "./script.ts";

/** Tells that deliveries were stored. */
export class DeliveryBell {
  #listener: (() => void) | null = null;

  listen(listener: () => void): void {
    this.#listener = listener;
  }

  ring(): void {
    this.#listener?.();
  }
}

type WebhookRow = Omit<SealedWebhook, "events" | "metadata" | "enabled" | "includeContent"> & {
  events: string;
  metadata: string | null;
  enabled: boolean | number;
  includeContent: boolean | number;
};
type EventRow = Omit<StoredEvent, "data" | "content"> & { data: string | null; content: string | null };
type DueRow = EventRow & { webhookId: string; attempts: number };

const shownWebhook = columns<WebhookRow>("w", [
  ...(["id", "url", "events", "includeContent", "metadata", "enabled"] as const),
  ...(["disabledReason", "sealedSecret", "createdAt", "updatedAt"] as const),
]);
const webhookPage = (place: string) => `SELECT ${shownWebhook} FROM webhooks w
  WHERE w.account_id = $1 AND w.id ${place} LIMIT $3`;
const webhookPages = { desc: webhookPage("< $2 ORDER BY w.id DESC"), asc: webhookPage("> $2 ORDER BY w.id") };
const selectWebhook = `SELECT ${shownWebhook} FROM webhooks w WHERE w.account_id = $1 AND w.id = $2`;
const countWebhooks = "SELECT count(*) AS count FROM webhooks WHERE account_id = $1";
const updateWebhook = `UPDATE webhooks SET url = $2, events = $3, include_content = $4, metadata = $5, facts = $6,
  enabled = $7, disabled_reason = $8, updated_at = $9 WHERE id = $1`;
const updateSecret = "UPDATE webhooks SET sealed_secret = $2, updated_at = $3 WHERE id = $1";
/** Events of turns that are just being settled come first, and others after the change. */
const lockWebhook = "SELECT 1 AS one FROM webhooks WHERE id = $1 FOR UPDATE";

const shownDelivery = columns<Delivery>("d", [
  ...(["id", "type", "state", "attempts", "status", "problem", "companionId", "conversationId"] as const),
  ...(["createdAt", "attemptedAt", "dueAt"] as const),
]);
const deliveryPage = (order: "ASC" | "DESC", place: string) => `SELECT ${shownDelivery} FROM webhook_deliveries d
  WHERE d.webhook_id = $1 ${place} ORDER BY d.number ${order} LIMIT $2`;
const afterNumber = "(SELECT a.number FROM webhook_deliveries a WHERE a.webhook_id = $1 AND a.id = $3)";
const deliveryPages = {
  first: { desc: deliveryPage("DESC", ""), asc: deliveryPage("ASC", "") },
  following: {
    desc: deliveryPage("DESC", `AND d.number < ${afterNumber}`),
    asc: deliveryPage("ASC", `AND d.number > ${afterNumber}`),
  },
};
const selectDelivery = `SELECT ${shownDelivery} FROM webhook_deliveries d WHERE d.webhook_id = $1 AND d.id = $2`;
const shownEvent = columns<EventRow>("d", [
  ...(["id", "type", "companionId", "conversationId", "sessionId", "visitorId", "sealedVisitor"] as const),
  ...(["data", "content", "createdAt"] as const),
]);
const selectEvent = `SELECT ${shownEvent} FROM webhook_deliveries d
  WHERE d.webhook_id = $1 AND d.id = $2 AND d.data IS NOT NULL`;

const selectDue = `SELECT d.attempts, d.webhook_id AS "webhookId", ${shownEvent} FROM webhook_deliveries d
  WHERE d.due_at <= $1 AND NOT (d.webhook_id = ANY ($2::text[]))
    AND EXISTS (SELECT 1 FROM webhooks w WHERE w.id = d.webhook_id AND w.enabled)
  ORDER BY d.due_at, d.number LIMIT $3`;
const lockDue = `${selectDue} FOR UPDATE OF d SKIP LOCKED`;
const lease = `UPDATE webhook_deliveries SET due_at = $3, attempts = attempts + 1, attempted_at = $4
  WHERE webhook_id = $1 AND id = $2`;
const selectOwners = `SELECT w.account_id AS "accountId", ${shownWebhook} FROM webhooks w WHERE w.id = ANY ($1::text[])`;
const selectNextDue = `SELECT d.due_at AS "dueAt" FROM webhook_deliveries d WHERE d.due_at IS NOT NULL
  AND EXISTS (SELECT 1 FROM webhooks w WHERE w.id = d.webhook_id AND w.enabled) ORDER BY d.due_at LIMIT 1`;

/**
 * Leaves nothing of what deliveries tell: those that wait are dropped. Call it with what is about to be deleted, or was;
 * where an event is told in the same transaction, after that.
 */
export const emptyDeliveries = (condition: string) => `UPDATE webhook_deliveries SET data = NULL, content = NULL,
    session_id = NULL, visitor_id = NULL, sealed_visitor = NULL, due_at = NULL,
    problem = CASE WHEN state = 'waiting' THEN 'What it told of was deleted.' ELSE problem END,
    state = CASE WHEN state = 'waiting' THEN 'dropped' ELSE state END
  WHERE data IS NOT NULL AND ${condition}`;

/** As many as `limit` says. */
export const emptySomeDeliveries = (condition: string, limit: string) =>
  emptyDeliveries(
    `number IN (SELECT number FROM webhook_deliveries WHERE ${condition} AND data IS NOT NULL LIMIT ${limit})`,
  );

const isWaiting = "webhook_id = $1 AND id = $2 AND state = 'waiting'";
const postpone = `UPDATE webhook_deliveries SET status = $3, problem = $4, due_at = $5 WHERE ${isWaiting}`;
const settle = `UPDATE webhook_deliveries SET state = $3, status = $4, problem = $5, due_at = NULL WHERE ${isWaiting}`;
/** Once their owner's servers know who was erased, nothing else keeps it. */
const forgetErased = emptyDeliveries("webhook_id = $1 AND id = $2 AND type = 'visitor.erased'");
const releaseNext = `UPDATE webhook_deliveries SET due_at = $3 WHERE due_at IS NULL AND number = (
    SELECT number FROM webhook_deliveries WHERE webhook_id = $1 AND conversation_id = $2 AND state = 'waiting'
    ORDER BY number LIMIT 1)`;
const noteAttempt = `UPDATE webhook_deliveries SET status = $3, problem = $4, attempted_at = $5, attempts = attempts + 1
  WHERE webhook_id = $1 AND id = $2 RETURNING state`;
const disable = `UPDATE webhooks SET enabled = false, disabled_reason = $2, updated_at = $3
  WHERE id = $1 AND enabled RETURNING account_id AS "accountId"`;
const drop = `UPDATE webhook_deliveries SET state = 'dropped', problem = $2, due_at = NULL
  WHERE number IN (SELECT number FROM webhook_deliveries WHERE webhook_id = $1 AND state = 'waiting'
    ORDER BY number LIMIT $3)`;

const deleteOld = `DELETE FROM webhook_deliveries WHERE number IN (
    SELECT o.number FROM (SELECT number, created_at FROM webhook_deliveries ORDER BY number LIMIT $2) AS o
    WHERE o.created_at < $1)`;
const selectOverfull = `SELECT w.id, (SELECT d.number FROM webhook_deliveries d WHERE d.webhook_id = w.id
      ORDER BY d.number DESC LIMIT 1 OFFSET $2) AS number
  FROM webhooks w WHERE w.id > $1 ORDER BY w.id LIMIT $3`;
const deleteOverfull = `DELETE FROM webhook_deliveries WHERE number IN (
    SELECT number FROM webhook_deliveries WHERE webhook_id = $1 AND number <= $2 ORDER BY number LIMIT $3)
  RETURNING conversation_id AS "conversationId"`;
const selectWords = `SELECT m.id, m.role, m.text FROM messages m
  WHERE m.conversation_number = (SELECT c.number FROM conversations c WHERE c.id = $1) AND m.id = ANY ($2::text[])
  ORDER BY m.created_at, m.number`;

/** A few milliseconds of work. */
const droppedAtOnce = 500;
const webhooksAtOnce = 20;
const ownerDisabled = "The webhook was disabled.";

/** Of an event's, all must be true. */
export function toFilterFacts(filter: VisitorKeyFilter): string[] {
  return filter === null ? [] : factsOfFilter(filter);
}

function toWebhook({ events, metadata, enabled, includeContent, ...row }: WebhookRow): SealedWebhook {
  return {
    ...row,
    events: JSON.parse(events),
    metadata: metadata === null ? null : JSON.parse(metadata),
    // SQLite's booleans are numbers.
    enabled: Boolean(enabled),
    includeContent: Boolean(includeContent),
  };
}

function toShown(row: WebhookRow): Webhook {
  const { sealedSecret: _, ...webhook } = toWebhook(row);
  return webhook;
}

function toEvent({ data, content, ...row }: EventRow): StoredEvent {
  return { ...row, data: JSON.parse(data ?? "{}"), content: content === null ? null : JSON.parse(content) };
}

const readWebhook = (accountId: string, id: string) => get<WebhookRow>(selectWebhook, accountId, id);

export function createWebhookStore(
  scripts: ScriptRunner,
  bell: DeliveryBell,
  removals: { start(): void },
): WebhookStore {
  /** In commits of bounded size. */
  async function dropWaiting(webhookId: string, problem: string): Promise<void> {
    const dropSome = () => scripts.writeHeavy(() => run(drop, webhookId, problem, droppedAtOnce));
    while ((await dropSome()) === droppedAtOnce);
  }

  function* update(accountId: string, before: Webhook, patch: WebhookPatch, context: WriteContext): Script<Webhook> {
    const { id } = before;
    const after: Webhook = {
      ...{ ...before, ...patch, updatedAt: toLaterMs(context.nowMs, before.updatedAt) },
      disabledReason: patch.enabled === undefined ? before.disabledReason : null,
    };
    const { url, events, includeContent, metadata, enabled, disabledReason, updatedAt } = after;
    const filter = [metadata === null ? null : JSON.stringify(metadata), JSON.stringify(toFilterFacts(metadata))];
    const fields = [url, JSON.stringify(events), includeContent, ...filter, enabled, disabledReason, updatedAt];
    yield* run(updateWebhook, id, ...fields);
    const details = { changed: Object.keys(patch) };
    yield* changes.record(context, { accountId, action: "webhook.update", targetId: id, details });
    return after;
  }

  function* readDelivery(webhookId: string, id: string): Script<Delivery | null> {
    return yield* get<Delivery>(selectDelivery, webhookId, id);
  }

  function* end(due: DueDelivery, outcome: AttemptOutcome, nowMs: number): Script<boolean> {
    const { webhook, event } = due;
    yield* lockRows(lockWebhook, webhook.id);
    const { state, status } = outcome;
    const problem = state === "delivered" ? null : outcome.problem;
    if (state === "waiting") return (yield* run(postpone, webhook.id, event.id, status, problem, outcome.dueAtMs)) > 0;
    if ((yield* run(settle, webhook.id, event.id, state, status, problem)) === 0) return false;
    if (state === "delivered") yield* run(forgetErased, webhook.id, event.id);
    if (event.conversationId !== null) yield* run(releaseNext, webhook.id, event.conversationId, nowMs);
    return true;
  }

  return {
    create: (accountId, { sealedSecret, ...webhook }, context) =>
      scripts.change(accountId, function* () {
        yield* changes.requireAccount(accountId);
        const counted = yield* get<{ count: number }>(countWebhooks, accountId);
        if ((counted?.count ?? 0) >= mostWebhooks) {
          throw new AppError("conflict", `An account has at most ${mostWebhooks} webhooks. Delete one first.`);
        }
        const { nowMs } = context;
        const made = { ...webhook, disabledReason: null, createdAt: nowMs, updatedAt: nowMs };
        const { events, metadata, ...row } = made;
        const filter = {
          metadata: metadata && JSON.stringify(metadata),
          facts: JSON.stringify(toFilterFacts(metadata)),
        };
        yield* insert("webhooks", { ...row, ...filter, events: JSON.stringify(events), accountId, sealedSecret });
        const details = { events: [...events], enabled: made.enabled };
        yield* changes.record(context, { accountId, action: "webhook.create", targetId: made.id, details });
        return made;
      }),

    async list(accountId, { limit, afterId, order = "desc" }) {
      const after = afterId ?? beforeAll[order];
      const rows = await scripts.read(() => all<WebhookRow>(webhookPages[order], accountId, after, limit + 1));
      return toPage(rows.map(toShown), limit);
    },

    async find(accountId, id) {
      const row = await scripts.read(() => readWebhook(accountId, id));
      return row === null ? null : toWebhook(row);
    },

    async update(accountId, id, patch, context, check) {
      // What is left of an earlier time, where a process died in between.
      if (patch.enabled === true) {
        const before = await scripts.read(() => readWebhook(accountId, id));
        if (before !== null && !before.enabled) await dropWaiting(id, ownerDisabled);
      }
      const updated = await scripts.change(accountId, function* () {
        yield* lockRows(lockWebhook, id);
        const row = yield* readWebhook(accountId, id);
        if (row === null) return null;
        const before = toShown(row);
        check?.(before);
        return yield* update(accountId, before, patch, context);
      });
      if (updated !== null && patch.enabled === false) await dropWaiting(id, ownerDisabled);
      return updated;
    },

    replaceSecret: (accountId, id, sealedSecret, context) =>
      scripts.change(accountId, function* () {
        const row = yield* readWebhook(accountId, id);
        if (row === null) return null;
        const updatedAt = toLaterMs(context.nowMs, row.updatedAt);
        yield* run(updateSecret, id, sealedSecret, updatedAt);
        yield* changes.record(context, { accountId, action: "webhook.rotate_secret", targetId: id, details: {} });
        return { ...toShown(row), updatedAt };
      }),

    async delete(accountId, id, context, check) {
      const isDeleted = await scripts.change(accountId, function* () {
        yield* lockRows(lockWebhook, id);
        const row = yield* readWebhook(accountId, id);
        if (row === null) return false;
        check?.(toShown(row));
        yield* run("DELETE FROM webhooks WHERE id = $1", id);
        yield* addRemoval("webhook", id, 0, context.nowMs);
        yield* changes.record(context, { accountId, action: "webhook.delete", targetId: id, details: {} });
        return true;
      });
      if (isDeleted) removals.start();
      return isDeleted;
    },

    listDeliveries: async (accountId, webhookId, { limit, afterId, order = "desc" }) => {
      const rows = await scripts.read(function* () {
        if ((yield* readWebhook(accountId, webhookId)) === null) return null;
        return afterId === null
          ? yield* all<Delivery>(deliveryPages.first[order], webhookId, limit + 1)
          : yield* all<Delivery>(deliveryPages.following[order], webhookId, limit + 1, afterId);
      });
      return rows === null ? null : toPage(rows, limit);
    },

    findDelivery: (accountId, webhookId, id) =>
      scripts.read(function* () {
        if ((yield* readWebhook(accountId, webhookId)) === null) return null;
        return yield* readDelivery(webhookId, id);
      }),

    async findEvent(webhookId, id) {
      const row = await scripts.read(() => get<EventRow>(selectEvent, webhookId, id));
      return row === null ? null : toEvent(row);
    },

    noteRetry: async (webhookId, id, { status, problem }, nowMs) => {
      const noted = await scripts.write(function* () {
        yield* lockRows(lockWebhook, webhookId);
        const row = yield* get<{ state: string }>(noteAttempt, webhookId, id, status, problem, nowMs);
        if (row === null) return null;
        if (problem === null && row.state !== "delivered") {
          yield* run(
            `UPDATE webhook_deliveries SET state = 'delivered', due_at = NULL WHERE webhook_id = $1 AND id = $2`,
            webhookId,
            id,
          );
        }
        const delivery = yield* readDelivery(webhookId, id);
        if (problem === null && delivery?.conversationId != null) {
          yield* run(releaseNext, webhookId, delivery.conversationId, nowMs);
        }
        return delivery;
      });
      if (noted !== null && problem === null) bell.ring();
      return noted;
    },

    onStored: (listener) => bell.listen(listener),

    async takeDue({ nowMs, untilMs, limit, perWebhook, running }) {
      const full = (taken: ReadonlyMap<string, number>) =>
        [...taken].filter(([, count]) => count >= perWebhook).map(([id]) => id);
      const probe = await scripts.readHeavy(() => get(selectDue, nowMs, full(running), 1));
      if (probe === null) return [];
      return await scripts.writeHeavy(function* () {
        const taken = new Map(running);
        const rows: DueRow[] = [];
        for (let isOver = false; !isOver; ) {
          const wanted = limit - rows.length;
          const found = yield* all<DueRow>(lockDue, nowMs, full(taken), wanted);
          const before = rows.length;
          for (const row of found) {
            const count = taken.get(row.webhookId) ?? 0;
            if (count >= perWebhook) continue;
            taken.set(row.webhookId, count + 1);
            rows.push(row);
            yield* run(lease, row.webhookId, row.id, untilMs, nowMs);
          }
          isOver = found.length < wanted || rows.length === limit || rows.length === before;
        }
        const ids = [...new Set(rows.map(({ webhookId }) => webhookId))];
        const owners = yield* all<WebhookRow & { accountId: string }>(selectOwners, ids);
        return rows.flatMap(({ webhookId, attempts, ...row }): DueDelivery[] => {
          const owner = owners.find(({ id }) => id === webhookId);
          if (owner === undefined) return [];
          const { accountId, ...webhook } = owner;
          return [{ accountId, webhook: toWebhook(webhook), event: toEvent(row), attempts }];
        });
      });
    },

    async finish(due, outcome, nowMs, auditId) {
      const isDisabled = await scripts.writeHeavy(function* () {
        if (!(yield* end(due, outcome, nowMs)) || outcome.state !== "failed") return false;
        const { reason } = outcome;
        const disabled = yield* get<{ accountId: string }>(disable, due.webhook.id, reason, nowMs);
        if (disabled === null) return false;
        yield* changes.audit({
          id: auditId,
          accountId: disabled.accountId,
          actor: { kind: "system", id: null, ipPrefix: null, requestId: null },
          action: "webhook.disable",
          targetId: due.webhook.id,
          details: { reason },
          createdAt: nowMs,
        });
        return true;
      });
      if (isDisabled) await dropWaiting(due.webhook.id, ownerDisabled);
    },

    async findNextDue() {
      return (await scripts.readHeavy(() => get<{ dueAt: number }>(selectNextDue)))?.dueAt ?? null;
    },

    async countWaiting() {
      const counted = "SELECT count(*) AS count FROM webhook_deliveries WHERE state = 'waiting'";
      return (await scripts.readHeavy(() => get<{ count: number }>(counted)))?.count ?? 0;
    },

    async readWords(conversationId, messageIds) {
      const rows = await scripts.read(() =>
        all<{ id: string; role: MessageRole; text: string }>(selectWords, conversationId, messageIds),
      );
      return new Map(rows.map(({ id, role, text }) => [id, { role, parts: textParts(text) }]));
    },

    async purge(beforeMs, most, limit) {
      // A write would be a commit.
      const any = "SELECT 1 AS one FROM webhook_deliveries LIMIT 1";
      if ((await scripts.readHeavy(() => get(any))) === null) return 0;
      const old = await scripts.writeHeavy(() => run(deleteOld, beforeMs, limit));
      if (old === limit) return old;
      for (let after = ""; ; ) {
        const webhooks = await scripts.readHeavy(() =>
          all<{ id: string; number: number | null }>(selectOverfull, after, most, webhooksAtOnce),
        );
        for (const { id, number } of webhooks) {
          if (number === null) continue;
          return await scripts.writeHeavy(function* () {
            yield* lockRows(lockWebhook, id);
            const gone = yield* all<{ conversationId: string | null }>(deleteOverfull, id, number, limit);
            for (const conversationId of new Set(gone.map((row) => row.conversationId))) {
              if (conversationId !== null) yield* run(releaseNext, id, conversationId, beforeMs);
            }
            return gone.length;
          });
        }
        const last = webhooks.at(-1);
        if (last === undefined) return old;
        after = last.id;
      }
    },
  };
}
