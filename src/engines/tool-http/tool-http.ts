/** Calls tools by signed POST requests to their owners' URLs, and turns every response into an answer for the model. */
import type { OutgoingFailure, OutgoingHttp, ReceivedResponse } from "../../contracts/outgoing-http.ts";
import type { CallAnswer, HttpTools } from "../../contracts/tool-servers.ts";
import { maxResultBytes } from "../../domain/tool.ts";
import type { Clock } from "../../lib/clock.ts";
import { waitFor } from "../../lib/deadline.ts";
import { signWebhook } from "../../lib/standard-webhooks.ts";

export interface HttpToolsOptions {
  readonly outgoing: OutgoingHttp;
  readonly clock: Clock;
  /** Replaced by tests. Rejects with the signal's reason. */
  readonly wait?: (timeMs: number, signal: AbortSignal) => Promise<void>;
}

type Attempt = ReceivedResponse | OutgoingFailure;

/** Before the other attempt, where the tool does not set a delay. */
const usualWaitMs = 500;

export function createHttpTools({ outgoing, clock, wait = waitFor }: HttpToolsOptions): HttpTools {
  return {
    async call({ url, headers, secret, timeoutMs }, { id, body }, signal) {
      const startedMs = clock.monotonicMs();
      const leftMs = () => timeoutMs - (clock.monotonicMs() - startedMs);

      async function attempt(givenMs: number): Promise<Attempt> {
        const sent = { "content-type": "application/json", accept: "application/json, text/*" };
        const signature = signWebhook(secret, { id, sentAtMs: clock.nowMs(), body });
        const all = { ...toLowerCase(headers), ...sent, ...signature };
        const request = {
          url,
          method: "POST",
          headers: all,
          body,
          timeoutMs: givenMs,
          maxBytes: maxResultBytes,
        } as const;
        return await outgoing.send(request, signal);
      }

      const first = await attempt(timeoutMs);
      const waitMs = findWait(first, clock.nowMs());
      if (waitMs === null || waitMs >= leftMs()) return toAnswer(first);
      await wait(waitMs, signal);
      const stillMs = Math.ceil(leftMs());
      return toAnswer(stillMs > 0 ? await attempt(stillMs) : first);
    },
    // No connection is kept.
    close() {},
  };
}

/** The owner's headers give way to ours, regardless of case. */
function toLowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** How long to wait before the other attempt; null where there is none, since the call may have been carried out. */
function findWait(attempt: Attempt, nowMs: number): number | null {
  if (attempt.outcome === "failed" && attempt.kind === "not_connected") return usualWaitMs;
  if (attempt.status !== 429 && attempt.status !== 503) return null;
  const asked = attempt.outcome === "received" ? attempt.headers.get("retry-after") : undefined;
  if (asked === undefined) return usualWaitMs;
  const askedMs = /^\d{1,9}$/.test(asked) ? Number(asked) * 1000 : Date.parse(asked) - nowMs;
  return Number.isNaN(askedMs) ? usualWaitMs : Math.max(0, askedMs);
}

function toAnswer(attempt: Attempt): CallAnswer {
  const { status } = attempt;
  if (status !== null && (status < 200 || status > 299)) return failWithStatus(status);
  if (attempt.outcome === "failed") return fail(sentences[attempt.kind], attempt.reason);
  const type = (attempt.headers.get("content-type") ?? "").toLowerCase().split(";", 1)[0]?.trim() ?? "";
  if (type !== "" && !/^(text\/.+|application\/(.+\+)?json)$/.test(type))
    return fail("The tool's answer is neither JSON nor text.", "The response is neither JSON nor text.");
  // The stores take no NUL. What is not UTF-8 is replaced, by more bytes than it had.
  const result = new TextDecoder().decode(attempt.body).replaceAll("\0", "\u{FFFD}");
  if (Buffer.byteLength(result) > maxResultBytes) return fail(sentences.too_large, "The response is not UTF-8.");
  return { outcome: "done", result };
}

const uncertain = "so it is not known whether it did what it was asked to.";

/** For the model, which answers a visitor: what may have been done is told apart from what cannot have been. */
const sentences = {
  url: "The tool could not be called: its address is not allowed.",
  headers: "The tool could not be called: it is not set up correctly.",
  not_connected: "The tool could not be reached; nothing was done.",
  timeout: `The tool did not answer in time, ${uncertain}`,
  broken: `The tool broke off its answer, ${uncertain}`,
  too_large: "The tool's answer is too long to be read.",
} as const satisfies Record<OutgoingFailure["kind"], string>;

function failWithStatus(status: number): CallAnswer {
  const reason = `The tool answered with status ${status}.`;
  if (status < 400) return fail("The tool could not be called: it has moved to another address.", reason);
  if (status === 429 || status === 503) return fail("The tool is busy at present; nothing was done.", reason);
  if (status < 500) return fail(`The tool refused the call (status ${status}).`, reason);
  return fail(`The tool failed (status ${status}), ${uncertain}`, reason);
}

function fail(sentence: string, reason: string): CallAnswer {
  return { outcome: "failed", sentence, reason };
}
