/** Delivers events to webhooks: signed, several at a time, and again by the schedule until they have arrived. */
import type { AttemptOutcome, DueDelivery, SealedWebhook } from "../../contracts/store/store.ts";
import { attemptMs, retryDelaysMs } from "../../domain/webhook.ts";
import { createDueWorker } from "../../lib/due-worker.ts";
import { openOrNull } from "../../lib/sealing.ts";
import { signWebhook } from "../../lib/standard-webhooks.ts";
import { AttemptsByHand } from "../attempts-by-hand.ts";
import type { Services } from "../dependencies.ts";
import { makeEventBody, makeTestBody } from "./event-body.ts";
import type { Attempt, EventDelivery } from "./events.ts";

type DeliveryServices = Pick<
  Services,
  "store" | "outgoing" | "sealing" | "visitors" | "clock" | "ids" | "log" | "measurements"
> & {
  /** Whether other servers may leave deliveries to this one. */
  readonly isShared: boolean;
};

const maxAtOnce = 32;
const maxPerWebhook = 4;
/** Of webhooks that an account may have many of: half of all is left to others. */
const maxPerAccount = 16;
/** Longer than an attempt: then its process has died. */
const leaseMs = 60_000;
/** Of a response nothing is kept. */
const maxResponseBytes = 4096;
/** How long closing waits for attempts under way; others are made again after their lease. */
const lastAttemptMs = 3_000;

export const sealedWebhookName = (accountId: string, webhookId: string) => `webhook:${accountId}:${webhookId}`;

export function createEventDelivery(services: DeliveryServices): EventDelivery {
  const { store, clock, ids, log, measurements, isShared } = services;
  const closing = new AbortController();
  const running = new Map<string, number>();
  const runningOf = new Map<string, number>();
  const byHand = new AttemptsByHand();
  const worker = createDueWorker<DueDelivery>({
    atOnce: maxAtOnce,
    // No one would wake this one for what another server takes and then dies over.
    isShared,
    nowMs: () => clock.nowMs(),
    take(limit) {
      const nowMs = clock.nowMs();
      const bounds = { limit, perWebhook: maxPerWebhook, perAccount: maxPerAccount };
      return store.webhooks.takeDue({ nowMs, untilMs: nowMs + leaseMs, ...bounds, running, runningOf });
    },
    async work(due) {
      count(running, due.webhook.id, 1);
      count(runningOf, due.accountId, 1);
      await deliver(due);
      count(running, due.webhook.id, -1);
      count(runningOf, due.accountId, -1);
    },
    findNextDue: () => store.webhooks.findNextDue(),
    onFailure: (error) => log.error("deliveries are left for a minute", { error }),
  });
  store.webhooks.onStored(worker.wake);

  /** Never rejects: what is not noted is tried again after its lease. */
  async function deliver(due: DueDelivery): Promise<void> {
    const facts = { webhookId: due.webhook.id, deliveryId: due.event.id };
    try {
      const attempt = await sendEvent(services, due, closing.signal);
      const outcome = toOutcome(due, attempt, clock.nowMs());
      await store.webhooks.finish(due, outcome, clock.nowMs(), ids.uuid());
      measurements.deliveries[outcome.state]++;
      if (outcome.state === "failed") log.warn("webhook disabled", { ...facts, status: attempt.status });
    } catch (error) {
      if (!closing.signal.aborted) log.error("delivery left for a minute", { ...facts, error });
    }
  }

  return {
    wake: worker.wake,

    send: (of) => byHand.run(of.accountId, () => sendEvent(services, of, closing.signal)),

    async test(accountId, webhook) {
      const nowMs = clock.nowMs();
      const message = { id: `msg_test_${ids.uuid()}`, body: makeTestBody(webhook.id, nowMs) };
      const attempt = () => attemptWith(services, { accountId, webhook, message }, closing.signal);
      return await byHand.run(accountId, attempt);
    },

    whenIdle: worker.whenIdle,

    async close() {
      worker.stop();
      const late = setTimeout(() => closing.abort(new Error("the server is stopping")), lastAttemptMs);
      await worker.whenIdle();
      clearTimeout(late);
      closing.abort(new Error("the server has stopped"));
    },
  };
}

function count(counts: Map<string, number>, id: string, change: 1 | -1): void {
  const now = (counts.get(id) ?? 0) + change;
  if (now === 0) counts.delete(id);
  else counts.set(id, now);
}

/** Rejects with the signal's reason, and as the store does. */
async function sendEvent(
  services: DeliveryServices,
  { accountId, webhook, event }: Omit<DueDelivery, "attempts">,
  signal: AbortSignal,
): Promise<Attempt> {
  const message = { id: event.id, body: await makeEventBody(services, event) };
  return await attemptWith(services, { accountId, webhook, message }, signal);
}

async function attemptWith(
  { outgoing, sealing, clock }: DeliveryServices,
  { accountId, webhook, message }: { accountId: string; webhook: SealedWebhook; message: { id: string; body: string } },
  signal: AbortSignal,
): Promise<Attempt> {
  const { id, url, sealedSecret } = webhook;
  const secret = await openOrNull(sealing, sealedWebhookName(accountId, id), sealedSecret);
  if (secret === null) {
    return { status: null, problem: "The secret cannot be opened. Make a new one.", durationMs: 0 };
  }
  const headers = {
    "content-type": "application/json",
    ...signWebhook(secret, { ...message, sentAtMs: clock.nowMs() }),
  };
  const startedMs = performance.now();
  const sent = { url, method: "POST", headers, body: message.body, timeoutMs: attemptMs } as const;
  const response = await outgoing.send({ ...sent, maxBytes: maxResponseBytes }, signal);
  const durationMs = Math.round(performance.now() - startedMs);
  const { status } = response;
  // Once its head has come, an endless or broken body changes nothing.
  if (status !== null && status >= 200 && status < 300) return { status, problem: null, durationMs };
  return { status, problem: toProblem(response), durationMs };
}

function toProblem(response: { status: number | null; reason?: string }): string {
  const { status, reason } = response;
  if (status === null) return reason ?? "There was no response.";
  const hint = status >= 300 && status < 400 ? ": redirects are not followed" : "";
  return `The response had the status ${status}${hint}.`;
}

function toOutcome({ attempts }: DueDelivery, { status, problem }: Attempt, nowMs: number): AttemptOutcome {
  if (problem === null) return { state: "delivered", status: status ?? 200 };
  if (status === 410) return { state: "failed", status, problem, reason: "The receiver answered 410 Gone." };
  const delayMs = retryDelaysMs[attempts];
  if (delayMs !== undefined) return { state: "waiting", status, problem, dueAtMs: nowMs + delayMs };
  const reason = `A delivery failed ${attempts + 1} times. The last time: ${problem}`;
  return { state: "failed", status, problem, reason };
}
