/** Webhooks: made, changed and deleted; what is delivered to them is `webhook-deliveries.ts`. */
import { toPage } from "../../../contracts/store/page.ts";
import type { WebhookPatch, WebhookStore } from "../../../contracts/store/webhooks.ts";
import type { WriteContext } from "../../../contracts/store/write-context.ts";
import { AppError } from "../../../domain/errors.ts";
import { maxWebhooks, type Webhook } from "../../../domain/webhook.ts";
import { toLaterMs } from "../../../lib/clock.ts";
import { beforeAll } from "../rows/budgets.ts";
import { toFilterFacts, toShownWebhook, toWebhook, type WebhookRow } from "../rows/webhooks.ts";
import { listEmails } from "./accounts.ts";
import { changes } from "./changes.ts";
import type { DeliveryBell } from "./event-deliveries.ts";
import { addRemoval } from "./removals.ts";
import { all, get, insert, lockRows, run, type Script, type ScriptRunner } from "./script.ts";
import { createOutbox, lockWebhook, ownerDisabled, releaseNext, shownWebhook } from "./webhook-deliveries.ts";

const webhookPage = (after: string) => `SELECT ${shownWebhook} FROM webhooks w
  WHERE w.account_id = $1 AND w.id ${after} LIMIT $3`;
const webhookPages = { desc: webhookPage("< $2 ORDER BY w.id DESC"), asc: webhookPage("> $2 ORDER BY w.id") };
const selectWebhook = `SELECT ${shownWebhook} FROM webhooks w WHERE w.account_id = $1 AND w.id = $2`;
const countWebhooks = "SELECT count(*) AS count FROM webhooks WHERE account_id = $1";
const updateWebhook = `UPDATE webhooks SET url = $2, events = $3, include_content = $4, metadata = $5, facts = $6,
  enabled = $7, disabled_reason = $8, updated_at = $9 WHERE id = $1`;
const updateSecret = "UPDATE webhooks SET sealed_secret = $2, updated_at = $3 WHERE id = $1";
const deleteAll = "DELETE FROM webhooks WHERE account_id = $1 RETURNING id";
const selectHolders = `SELECT email FROM accounts WHERE id IN (SELECT account_id FROM webhooks) ORDER BY number LIMIT $1`;

const readWebhook = (accountId: string, id: string) => get<WebhookRow>(selectWebhook, accountId, id);

const deleteOld = `DELETE FROM webhook_deliveries WHERE number IN (
    SELECT o.number FROM (SELECT number, created_at FROM webhook_deliveries ORDER BY number LIMIT $2) AS o
    WHERE o.created_at < $1)`;
const selectOverfull = `SELECT w.id, (SELECT d.number FROM webhook_deliveries d WHERE d.webhook_id = w.id
      ORDER BY d.number DESC LIMIT 1 OFFSET $2) AS number
  FROM webhooks w WHERE w.id > $1 ORDER BY w.id LIMIT $3`;
const deleteOverfull = `DELETE FROM webhook_deliveries WHERE number IN (
    SELECT number FROM webhook_deliveries WHERE webhook_id = $1 AND number <= $2 ORDER BY number LIMIT $3)
  RETURNING conversation_id AS "conversationId"`;
const webhooksAtOnce = 20;

export function createWebhookStore(
  scripts: ScriptRunner,
  bell: DeliveryBell,
  removals: { start(): void },
): WebhookStore {
  const { dropWaiting, ...outbox } = createOutbox(scripts, bell);

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

  return {
    ...outbox,

    create: (accountId, { sealedSecret, ...webhook }, context) =>
      scripts.change(accountId, function* () {
        yield* changes.requireAccount(accountId);
        const counted = yield* get<{ count: number }>(countWebhooks, accountId);
        if ((counted?.count ?? 0) >= maxWebhooks) {
          throw new AppError("conflict", `An account has at most ${maxWebhooks} webhooks. Delete one first.`);
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

    listHolders: (limit) => scripts.readHeavy(() => listEmails(selectHolders, limit)),

    async reset(accountId, context) {
      const isReset = await scripts.change(accountId, function* () {
        if ((yield* changes.findAccountNumber(accountId)) === null) return false;
        for (const { id } of yield* all<{ id: string }>(deleteAll, accountId)) {
          yield* addRemoval("webhook", id, 0, context.nowMs);
        }
        yield* changes.record(context, { accountId, action: "webhook.reset", targetId: accountId, details: {} });
        return true;
      });
      if (isReset) removals.start();
      return isReset;
    },

    async list(accountId, { limit, afterId, order = "desc" }) {
      const after = afterId ?? beforeAll[order];
      const rows = await scripts.read(() => all<WebhookRow>(webhookPages[order], accountId, after, limit + 1));
      return toPage(rows.map(toShownWebhook), limit);
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
        const before = toShownWebhook(row);
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
        return { ...toShownWebhook(row), updatedAt };
      }),

    async delete(accountId, id, context, check) {
      const isDeleted = await scripts.change(accountId, function* () {
        yield* lockRows(lockWebhook, id);
        const row = yield* readWebhook(accountId, id);
        if (row === null) return false;
        check?.(toShownWebhook(row));
        yield* run("DELETE FROM webhooks WHERE id = $1", id);
        yield* addRemoval("webhook", id, 0, context.nowMs);
        yield* changes.record(context, { accountId, action: "webhook.delete", targetId: id, details: {} });
        return true;
      });
      if (isDeleted) removals.start();
      return isDeleted;
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
