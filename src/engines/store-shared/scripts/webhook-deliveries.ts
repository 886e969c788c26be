/** The outbox of webhooks: which deliveries are due, what became of them, and what is kept of that. */
import { toPage } from "../../../contracts/store/page.ts";
import type { AttemptOutcome, DueDelivery, WebhookStore } from "../../../contracts/store/webhooks.ts";
import { type MessageRole, textParts } from "../../../domain/conversation.ts";
import type { Delivery } from "../../../domain/webhook.ts";
import { type EventRow, toEvent, toWebhook, type WebhookRow } from "../rows/webhooks.ts";
import { changes } from "./changes.ts";
import { type DeliveryBell, emptyDeliveries } from "./event-deliveries.ts";
import { all, columns, get, lockRows, run, type Script, type ScriptRunner } from "./script.ts";

type DueRow = EventRow & { webhookId: string; accountId: string; attempts: number };

export const shownWebhook = columns<WebhookRow>("w", [
  ...(["id", "url", "events", "includeContent", "metadata", "enabled"] as const),
  ...(["disabledReason", "sealedSecret", "createdAt", "updatedAt"] as const),
]);
/** Events of turns that are just being settled come first, and others after the change. */
export const lockWebhook = "SELECT 1 AS one FROM webhooks WHERE id = $1 FOR UPDATE";
const shownDelivery = columns<Delivery>("d", [
  ...(["id", "type", "state", "attempts", "status", "problem", "companionId", "conversationId"] as const),
  ...(["createdAt", "attemptedAt", "dueAt"] as const),
]);
const deliveryPage = (order: "ASC" | "DESC", after: string) => `SELECT ${shownDelivery} FROM webhook_deliveries d
  WHERE d.webhook_id = $1 ${after} ORDER BY d.number ${order} LIMIT $2`;
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

const selectDue = `SELECT d.attempts, d.webhook_id AS "webhookId",
    (SELECT w.account_id FROM webhooks w WHERE w.id = d.webhook_id) AS "accountId", ${shownEvent}
  FROM webhook_deliveries d
  WHERE d.due_at <= $1 AND NOT (d.webhook_id = ANY ($2::text[])) AND EXISTS
    (SELECT 1 FROM webhooks w WHERE w.id = d.webhook_id AND w.enabled AND NOT (w.account_id = ANY ($4::text[])))
  ORDER BY d.due_at, d.number LIMIT $3`;
const lockDue = `${selectDue} FOR UPDATE OF d SKIP LOCKED`;
const lease = `UPDATE webhook_deliveries SET due_at = $3, attempts = attempts + 1, attempted_at = $4
  WHERE webhook_id = $1 AND id = $2`;
const selectOwn = "SELECT 1 AS one FROM webhooks WHERE account_id = $1 AND id = $2";
const selectOwners = `SELECT w.account_id AS "accountId", ${shownWebhook} FROM webhooks w WHERE w.id = ANY ($1::text[])`;
const selectNextDue = `SELECT d.due_at AS "dueAt" FROM webhook_deliveries d WHERE d.due_at IS NOT NULL
  AND EXISTS (SELECT 1 FROM webhooks w WHERE w.id = d.webhook_id AND w.enabled) ORDER BY d.due_at LIMIT 1`;

const isWaiting = "webhook_id = $1 AND id = $2 AND state = 'waiting'";
const postpone = `UPDATE webhook_deliveries SET status = $3, problem = $4, due_at = $5 WHERE ${isWaiting}`;
const settle = `UPDATE webhook_deliveries SET state = $3, status = $4, problem = $5, due_at = NULL WHERE ${isWaiting}`;
/** Once their owner's servers know who was erased, nothing else keeps it. */
const forgetErased = emptyDeliveries("webhook_id = $1 AND id = $2 AND type = 'visitor.erased'");
export const releaseNext = `UPDATE webhook_deliveries SET due_at = $3 WHERE due_at IS NULL AND number = (
    SELECT number FROM webhook_deliveries WHERE webhook_id = $1 AND conversation_id = $2 AND state = 'waiting'
    ORDER BY number LIMIT 1)`;
/** The schedule goes by the number of attempts: those that fail by hand must not shorten it. */
const noteAttempt = `UPDATE webhook_deliveries SET status = $3, problem = $4, attempted_at = $5,
    attempts = attempts + CASE WHEN state = 'waiting' AND $6 THEN 0 ELSE 1 END
  WHERE webhook_id = $1 AND id = $2 RETURNING state`;
const disable = `UPDATE webhooks SET enabled = false, disabled_reason = $2, updated_at = $3
  WHERE id = $1 AND enabled RETURNING account_id AS "accountId"`;
const selectWords = `SELECT m.id, m.role, m.text FROM messages m
  WHERE m.conversation_number = (SELECT c.number FROM conversations c WHERE c.id = $1) AND m.id = ANY ($2::text[])
  ORDER BY m.created_at, m.number`;
const drop = `UPDATE webhook_deliveries SET state = 'dropped', problem = $2, due_at = NULL
  WHERE number IN (SELECT number FROM webhook_deliveries WHERE webhook_id = $1 AND state = 'waiting' LIMIT $3)`;

/** A few milliseconds of work. */
const droppedAtOnce = 500;
export const ownerDisabled = "The webhook was disabled.";

/** For tests of their plans. */
export const outboxQueries = {
  due: selectDue,
  nextDue: selectNextDue,
  page: deliveryPages.first.desc,
  drop,
  releaseNext,
};

export type Outbox = Pick<
  WebhookStore,
  | ("listDeliveries" | "findDelivery" | "findEvent" | "noteRetry" | "onStored" | "takeDue" | "finish" | "findNextDue")
  | ("countWaiting" | "readWords")
> & {
  /** In commits of bounded size. */
  dropWaiting(webhookId: string, problem: string): Promise<void>;
};

const listFull = (counts: ReadonlyMap<string, number>, most: number) =>
  [...counts].filter(([, count]) => count >= most).map(([id]) => id);

export function createOutbox(scripts: ScriptRunner, bell: DeliveryBell): Outbox {
  async function dropWaiting(webhookId: string, problem: string): Promise<void> {
    const dropSome = () => scripts.writeHeavy(() => run(drop, webhookId, problem, droppedAtOnce));
    while ((await dropSome()) === droppedAtOnce);
  }

  function* isOwn(accountId: string, webhookId: string): Script<boolean> {
    return (yield* get(selectOwn, accountId, webhookId)) !== null;
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
    dropWaiting,

    listDeliveries: async (accountId, webhookId, { limit, afterId, order = "desc" }) => {
      const rows = await scripts.read(function* () {
        if (!(yield* isOwn(accountId, webhookId))) return null;
        return afterId === null
          ? yield* all<Delivery>(deliveryPages.first[order], webhookId, limit + 1)
          : yield* all<Delivery>(deliveryPages.following[order], webhookId, limit + 1, afterId);
      });
      return rows === null ? null : toPage(rows, limit);
    },

    findDelivery: (accountId, webhookId, id) =>
      scripts.read(function* () {
        if (!(yield* isOwn(accountId, webhookId))) return null;
        return yield* readDelivery(webhookId, id);
      }),

    async findEvent(webhookId, id) {
      const row = await scripts.read(() => get<EventRow>(selectEvent, webhookId, id));
      return row === null ? null : toEvent(row);
    },

    noteRetry: async (webhookId, id, { status, problem }, nowMs) => {
      const noted = await scripts.write(function* () {
        yield* lockRows(lockWebhook, webhookId);
        const row = yield* get<{ state: string }>(noteAttempt, webhookId, id, status, problem, nowMs, problem !== null);
        if (row === null) return null;
        if (problem === null && row.state !== "delivered") {
          yield* run(
            `UPDATE webhook_deliveries SET state = 'delivered', due_at = NULL WHERE webhook_id = $1 AND id = $2`,
            webhookId,
            id,
          );
          yield* run(forgetErased, webhookId, id);
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

    async takeDue({ nowMs, untilMs, limit, perWebhook, perAccount, running, runningOf }) {
      const full = [listFull(running, perWebhook), listFull(runningOf, perAccount)] as const;
      const probe = await scripts.read(() => get(selectDue, nowMs, full[0], 1, full[1]));
      if (probe === null) return [];
      return await scripts.write(function* () {
        const taken = new Map(running);
        const takenOf = new Map(runningOf);
        const rows: DueRow[] = [];
        for (let isOver = false; !isOver; ) {
          const wanted = limit - rows.length;
          const fullAccounts = listFull(takenOf, perAccount);
          const found = yield* all<DueRow>(lockDue, nowMs, listFull(taken, perWebhook), wanted, fullAccounts);
          const before = rows.length;
          for (const row of found) {
            const count = taken.get(row.webhookId) ?? 0;
            const countOf = takenOf.get(row.accountId) ?? 0;
            if (count >= perWebhook || countOf >= perAccount) continue;
            taken.set(row.webhookId, count + 1);
            takenOf.set(row.accountId, countOf + 1);
            rows.push(row);
            yield* run(lease, row.webhookId, row.id, untilMs, nowMs);
          }
          isOver = found.length < wanted || rows.length === limit || rows.length === before;
        }
        const ids = [...new Set(rows.map(({ webhookId }) => webhookId))];
        const owners = yield* all<WebhookRow & { accountId: string }>(selectOwners, ids);
        return rows.flatMap(({ webhookId, accountId: _, attempts, ...row }): DueDelivery[] => {
          const owner = owners.find(({ id }) => id === webhookId);
          if (owner === undefined) return [];
          const { accountId, ...webhook } = owner;
          return [{ accountId, webhook: toWebhook(webhook), event: toEvent(row), attempts }];
        });
      });
    },

    async finish(due, outcome, nowMs, auditId) {
      // Not behind what takes long: its lease would end meanwhile.
      const isDisabled = await scripts.write(function* () {
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
      return (await scripts.read(() => get<{ dueAt: number }>(selectNextDue)))?.dueAt ?? null;
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
  };
}
