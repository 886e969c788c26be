/** What an account can do with its budgets. */

import type { BudgetCheck, BudgetPatch, NewBudget, WriteContext } from "../../contracts/store/store.ts";
import type { Services } from "../../core/dependencies.ts";
import { findLeastReply } from "../../core/turns/least-reply.ts";
import { noteReached } from "../../core/turns/spending.ts";
import { listUnpriced, mayBeUnpriced, type PricedServices } from "../../core/turns/unpriced.ts";
import { type BudgetState, type BudgetSubject, isReached } from "../../domain/budget.ts";
import { type FieldError, invalidFields, missing, readId } from "../../domain/errors.ts";
import type { Cost } from "../../domain/money.ts";
import { findFilterProblem } from "../../http/schemas/metadata-filter.ts";
import { omitReadOnly, pickSound } from "../../http/schemas/named-object.ts";
import { type BudgetPatchBody, budgetPatchBody, budgetPreviewBody, newBudgetBody } from "./model.ts";
import { BudgetObject } from "./responses.ts";

type BudgetServices = PricedServices & Pick<Services, "store" | "ids" | "log" | "measurements">;
type SentSubject = Pick<BudgetPatchBody, "account" | "key_id" | "companion_id" | "metadata">;

const subjectFields = ["account", "key_id", "companion_id", "metadata"] as const;

export interface PreparedBudget {
  made: BudgetState;
  write(context: WriteContext): Promise<unknown>;
}

export async function prepareBudget(
  services: BudgetServices,
  accountId: string,
  sent: unknown,
  nowMs: number,
): Promise<PreparedBudget> {
  const { store, ids } = services;
  const settable = omitReadOnly(sent, newBudgetBody, BudgetObject);
  const errors = newBudgetBody.listErrors(settable);
  if (errors.length > 0) throw invalidFields([...errors, ...listSubjectErrors(settable as SentSubject, errors)]);
  const body = newBudgetBody.check(settable);
  const subject = await readSubject(services, accountId, body);
  if (subject === null) throw invalidFields([nameOne("account")]);
  const { limit_micros: limitMicros, period, action } = body;
  if (action === "stop") await requirePrices(services, accountId, subject);
  const budget: NewBudget = { id: ids.uuid(), subject, limitMicros, period, action };
  const spent = await store.spending.sumSpent(accountId, subject, period, nowMs);
  const reachedAt = isReached(spent, limitMicros) ? nowMs : null;
  return {
    made: { ...budget, spent, reservedMicros: 0, reachedAt, createdAt: nowMs, updatedAt: nowMs },
    async write(context) {
      const created = await store.spending.createBudget(accountId, budget, context);
      if (created.reachedAt !== null) noteReached(services, [{ ...created, accountId }]);
    },
  };
}

export async function updateBudget(
  services: BudgetServices,
  accountId: string,
  current: BudgetState,
  { sent, check }: { sent: unknown; check: BudgetCheck | undefined },
  context: WriteContext,
): Promise<BudgetState> {
  const settable = omitReadOnly(sent, budgetPatchBody, BudgetObject);
  const errors = budgetPatchBody.listErrors(settable);
  if (errors.length > 0) throw invalidFields([...errors, ...listSubjectErrors(settable as SentSubject, errors)]);
  const body = budgetPatchBody.check(settable);
  const { limit_micros: limitMicros, period, action } = body;
  const subject = await readSubject(services, accountId, body);
  const patch: BudgetPatch = {
    ...(subject === null || JSON.stringify(subject) === JSON.stringify(current.subject) ? {} : { subject }),
    ...(limitMicros === undefined || limitMicros === current.limitMicros ? {} : { limitMicros }),
    ...(period === undefined || period === current.period ? {} : { period }),
    ...(action === undefined || action === current.action ? {} : { action }),
  };
  // Without a change, neither `updated_at` nor the audit log changes.
  if (Object.keys(patch).length === 0) return current;
  const becomes = { ...current, ...patch };
  if (becomes.action === "stop" && (patch.action ?? patch.subject) !== undefined) {
    await requirePrices(services, accountId, becomes.subject);
  }
  const updated = await services.store.spending.updateBudget(accountId, current.id, patch, context, check);
  if (updated === null) throw missing("budget");
  const { reachedAt } = updated;
  if (reachedAt !== null && reachedAt !== current.reachedAt) noteReached(services, [{ ...updated, accountId }]);
  return updated;
}

/** What a budget would have counted, and what it would have to leave for a reply. */
export async function previewBudget(
  services: BudgetServices,
  accountId: string,
  sent: unknown,
  nowMs: number,
): Promise<{ spent: Cost; replyMicros: number | null }> {
  const errors = budgetPreviewBody.listErrors(sent);
  if (errors.length > 0) throw invalidFields([...errors, ...listSubjectErrors(sent as SentSubject, errors)]);
  const body = budgetPreviewBody.check(sent);
  const subject = await readSubject(services, accountId, body);
  if (subject === null) throw invalidFields([nameOne("account")]);
  return {
    spent: await services.store.spending.sumSpent(accountId, subject, body.period, nowMs),
    replyMicros: findLeastReply(services, accountId, await listChoices(services, accountId, subject)),
  };
}

export async function getBudget(
  { store, clock }: Pick<Services, "store" | "clock">,
  accountId: string,
  id: string,
): Promise<BudgetState> {
  const budget = await store.spending.findBudget(accountId, readId(id, "budget"), clock.nowMs());
  if (budget === null) throw missing("budget");
  return budget;
}

const nameOne = (param: string): FieldError => ({
  param,
  detail: "Name exactly one of account, key_id, companion_id and metadata.",
});

/** What a schema cannot state of the subject; nothing of fields that are at fault already. */
function listSubjectErrors(sent: SentSubject, known: readonly FieldError[]): FieldError[] {
  const named = subjectFields.filter((field) => sent?.[field] != null);
  if (named.length > 1) return named.map(nameOne);
  if (sent?.account === false) return [{ param: "account", detail: "Must be true, or left out." }];
  const { metadata } = pickSound<SentSubject>(sent, known);
  const problem = metadata == null ? null : findFilterProblem(metadata);
  return problem === null ? [] : [{ param: "metadata", detail: problem }];
}

/** Null if none is named. */
async function readSubject(
  { store }: BudgetServices,
  accountId: string,
  sent: SentSubject,
): Promise<BudgetSubject | null> {
  const errors = listSubjectErrors(sent, []);
  if (errors.length > 0) throw invalidFields(errors);
  if (sent.account != null) return { account: true };
  if (sent.metadata != null) return { metadata: sent.metadata };
  if (sent.key_id != null) {
    const keyId = sent.key_id.toLowerCase();
    const keys = await store.apiKeys.list(accountId);
    if (keys.some(({ id }) => id === keyId)) return { keyId };
    throw invalidFields([{ param: "key_id", detail: "The account has no such API key." }]);
  }
  if (sent.companion_id == null) return null;
  const companionId = sent.companion_id.toLowerCase();
  if ((await store.companions.find(accountId, companionId)) !== null) return { companionId };
  throw invalidFields([{ param: "companion_id", detail: "The account has no such companion." }]);
}

/** Of the companions whose replies a budget would stop. */
async function listChoices({ store }: BudgetServices, accountId: string, subject: BudgetSubject) {
  const { spending, apiKeys } = store;
  const counted = "keyId" in subject ? new Set(await spending.listCountedKeys(subject.keyId)) : null;
  const keys = counted === null ? [] : await apiKeys.list(accountId);
  // Such a key calls every companion of the account, no matter who made it.
  const callsAll = keys.some(({ id, scopes }) => counted?.has(id) && scopes.includes("chat:write"));
  return await spending.listChoices(accountId, callsAll ? { account: true } : subject);
}

/** A budget cannot stop at a limit what no one knows the cost of. */
async function requirePrices(services: BudgetServices, accountId: string, subject: BudgetSubject): Promise<void> {
  if (!mayBeUnpriced(services)) return;
  const unpriced = listUnpriced(services, await listChoices(services, accountId, subject));
  if (unpriced.length === 0) return;
  const detail = `What it would stop has no price on this server: ${unpriced.join(", ")}.`;
  throw invalidFields([{ param: "action", detail }]);
}
