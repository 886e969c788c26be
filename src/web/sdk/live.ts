/** What is written in a conversation, as it comes: one stream over all cuts, or polled where a proxy holds streams back. */
import { CompanionError } from "../../reply-reader/errors.ts";
import type { ConversationState } from "../../reply-reader/reply-reader.ts";
import type { OpenedResponse } from "../../reply-reader/request.ts";
import type { Connection } from "./connection.ts";
import { joinSignals } from "./signals.ts";
import { openLine, pause } from "./wakefulness.ts";

export interface LiveMessage {
  /** Its position in the conversation. */
  seq: number;
  author: { type: "visitor" | "companion" | "person"; name: string | null };
  text: string;
  /** The `messageId` of the exchange, of a visitor's message and of its reply. */
  message_id: string | null;
  created_at: string;
}

export type LiveEvent =
  | ({ type: "state" } & ConversationState)
  | ({ type: "message" } & LiveMessage)
  | { type: "typing"; typing: boolean };

export interface LiveOptions {
  /** Ends listening. */
  signal?: AbortSignal | undefined;
  /** The `seq` of the last message that the page has; default 0. */
  after?: number | undefined;
  /** Calls with false when the connection is lost, and with true when it is back. */
  onConnection?: ((isConnected: boolean) => void) | undefined;
}

/** The server speaks every 10 s. */
const muteMs = 25_000;
const mutesToPoll = 2;
const pollSeconds = 25;
const firstWaitMs = 3_000;
const maxWaitMs = 30_000;

/** One for all of a page's calls: what a proxy does to one stream it does to the next. */
export function createListening(connection: Connection) {
  let mutes = 0;

  async function* readStream(path: string, signal: AbortSignal): AsyncGenerator<LiveEvent, string, undefined> {
    const line = joinSignals(signal);
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isHeard = false;
    const wait = async <Value>(part: Promise<Value>): Promise<Value> => {
      timer = setTimeout(() => {
        if (!isHeard) mutes++;
        line.abort(new CompanionError("timeout", { isCut: true }));
      }, muteMs);
      try {
        return await part;
      } finally {
        clearTimeout(timer);
      }
    };
    let opened: OpenedResponse | undefined;
    try {
      opened = await wait(connection.open(path, {}, { signal: line.signal, retries: 0 }));
      const reader = opened.response.body?.getReader();
      const decoder = new TextDecoder();
      let [rest, type, end] = ["", "", ""];
      for (;;) {
        const { done = true, value } = (reader && (await wait(opened.next(reader.read(), "incomplete")))) ?? {};
        if (done) return opened.response.status === 204 ? "over" : end;
        isHeard = true;
        mutes = 0;
        const lines = (rest + decoder.decode(value, { stream: true })).split(/[\r\n]/);
        rest = lines.pop() ?? "";
        for (const text of lines) {
          if (text.startsWith("event: ")) type = text.slice(7);
          else if (text.startsWith("data: ")) yield { type, ...JSON.parse(text.slice(6)) };
          else if (/^: (again|error)/.test(text)) end = text.slice(2);
        }
      }
    } finally {
      opened?.close();
      line.release();
    }
  }

  async function* poll(path: string, signal: AbortSignal): AsyncGenerator<LiveEvent, string, undefined> {
    const init = { headers: { Accept: "application/json" } };
    const { state, data } = await connection.load(path, init, { signal, retries: 0 });
    yield { type: "state", ...Object(typeof state === "string" ? { state } : state) };
    for (const message of Array.isArray(data) ? data : []) yield { type: "message", ...message };
    return "polled";
  }

  /** Ends when the companion answers again and nothing more is to come. `path`: of the conversation, with its query. */
  return async function* listen(
    path: () => string,
    { signal, after = 0, onConnection }: LiveOptions,
  ): AsyncGenerator<LiveEvent, void, undefined> {
    let cursor = after;
    let [state, tries, waitSeconds] = ["", 0, 0];
    for (;;) {
      const line = openLine(signal);
      let retryAfterMs = 0;
      const startedAt = Date.now();
      try {
        const isPolling = mutes >= mutesToPoll;
        const address = `${path()}&after=${cursor}`;
        const events = isPolling
          ? poll(`${address}&wait=${waitSeconds}`, line.signal)
          : readStream(address, line.signal);
        const before = cursor;
        let end = "";
        for (;;) {
          const { done, value } = await events.next();
          if (done) {
            end = value;
            break;
          }
          if (tries) onConnection?.(true);
          tries = 0;
          if (value.type === "state") state = value.state;
          // Sent again after a cut.
          if (value.type === "message" && value.seq <= cursor) continue;
          if (value.type === "message") cursor = value.seq;
          yield value;
        }
        if (end === "error replaced") throw new CompanionError("replaced");
        if (end === "over" || (state === "companion" && (isPolling ? cursor === before : !end))) return;
        waitSeconds = pollSeconds;
        // A server with too many listeners answers without waiting.
        if (isPolling && Date.now() - startedAt > firstWaitMs) continue;
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof CompanionError) || isFinal(error)) throw error;
        retryAfterMs = error.retryAfterMs ?? 0;
        if (tries) onConnection?.(false);
      } finally {
        line.close();
      }
      // At random, so that all who were cut off together do not come back together.
      const waitMs = tries ? Math.min(500 * 2 ** tries, maxWaitMs) : Math.random() * firstWaitMs;
      tries++;
      await pause(Math.max(waitMs, retryAfterMs), signal);
    }
  };
}

/** A refusal that the next try would meet as well. */
function isFinal({ code, status }: CompanionError): boolean {
  return code === "replaced" || (status >= 400 && status < 500 && status !== 429 && status !== 408);
}
