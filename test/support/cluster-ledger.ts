/**
 * The ledger of a cluster's tests: what visitors saw, beside what the model was asked and what is stored. Whatever an
 * instance or a server went through, these must agree.
 */
import type { ApiClient } from "./api-client.ts";
import { readStream, sendChat } from "./chat.ts";
import { type ClusterModel, clusterMessage, clusterReply, type ModelCall } from "./cluster-model.ts";

/** Longer than this, nobody waits for an answer: a request that is still open then hangs. */
const patienceMs = 15_000;

/**
 * `done`: the reply came whole, with its `[DONE]`. `cut`: the stream ended without it. `refused`: another status than
 * 200. `broken`: the connection ended before an answer. `hung`: nothing of it came to an end.
 */
export type Fate = "done" | "cut" | "refused" | "broken" | "hung";

export interface Sent {
  readonly text: string;
  readonly sessionId: string;
  fate: Fate;
  /** 0 if there was no answer. */
  status: number;
  /** The error code of a refusal; null also for a proxy's own page. */
  code: string | null;
  /** The words of the reply that came. */
  reply: string;
}

export interface LedgerCompanion {
  id: string;
  token: string;
}

interface StoredTurn {
  sessionId: string;
  text: string;
  reply: string | null;
  isComplete: boolean;
}

export class ClusterLedger {
  readonly sent: Sent[] = [];
  /** Instances that were cut off: a turn of theirs may run on while the next one begins elsewhere. */
  readonly cutOff = new Set<string>();
  readonly #model: ClusterModel;
  readonly #companion: LedgerCompanion;
  #count = 0;

  constructor(model: ClusterModel, companion: LedgerCompanion) {
    this.#model = model;
    this.#companion = companion;
  }

  count(fate: Fate): number {
    return this.sent.filter((one) => one.fate === fate).length;
  }

  /** Sends the conversation's next message and reads the reply to its end; never rejects. */
  async send(url: string, sessionId: string): Promise<Sent> {
    const sent: Sent = {
      text: clusterMessage(sessionId, this.#count++),
      sessionId,
      fate: "hung",
      status: 0,
      code: null,
      reply: "",
    };
    this.sent.push(sent);
    const body = { message: sent.text, session_id: sessionId };
    const deadline = AbortSignal.timeout(patienceMs);
    try {
      const response = await sendChat(url, this.#companion.token, body, { signal: deadline });
      sent.status = response.status;
      const raw = await readToTheEnd(response);
      if (deadline.aborted) return sent;
      if (response.ok) {
        const { texts, isDone } = readStream(raw);
        sent.reply = texts.join("");
        sent.fate = isDone ? "done" : "cut";
      } else {
        sent.fate = "refused";
        sent.code = /"code":"([a-z_]+)"/.exec(raw)?.[1] ?? null;
      }
    } catch {
      if (!deadline.aborted) sent.fate = sent.status === 200 ? "cut" : "broken";
    }
    return sent;
  }

  /** Sends one message after the other in this conversation until `isOver`, and pauses after one that failed. */
  async converse(url: string, sessionId: string, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const { fate } = await this.send(url, sessionId);
      if (fate !== "done") await Bun.sleep(50);
    }
  }

  /** Everything that does not agree, in sentences; empty if all does. Call it when no request is under way. */
  async findFaults(api: ApiClient): Promise<string[]> {
    const stored = await this.#readStored(api);
    const usage = await api.call("GET", `/api/usage?companion_id=${this.#companion.id}`);
    const counted = usage.json.data.reduce((sum, row) => sum + Number(row["messages"]), 0);
    return [
      ...this.#judgeVisitors(stored),
      ...this.#judgeStored(stored),
      ...this.#judgeOrder(stored),
      ...this.#judgeOverlaps(),
      ...(counted === stored.length ? [] : [`${counted} messages in usage, but ${stored.length} are stored`]),
    ];
  }

  #judgeVisitors(stored: readonly StoredTurn[]): string[] {
    const complete = new Map(stored.filter((turn) => turn.isComplete).map((turn) => [turn.text, turn]));
    const faults: string[] = [];
    for (const { text, fate, reply } of this.sent) {
      if (fate === "hung") faults.push(`${text}: no end within ${patienceMs / 1000} s`);
      if (fate !== "done") continue;
      if (reply !== clusterReply(text)) faults.push(`${text}: [DONE] after another reply: ${reply}`);
      if (!complete.has(text)) faults.push(`${text}: [DONE], but no complete turn is stored`);
    }
    return faults;
  }

  #judgeStored(stored: readonly StoredTurn[]): string[] {
    const sent = new Set(this.sent.map(({ text }) => text));
    const whole = new Set(this.#model.calls.filter((call) => call.isWhole).map(({ text }) => text));
    const seen = new Set<string>();
    const faults: string[] = [];
    for (const { text, reply, isComplete } of stored) {
      if (!sent.has(text)) faults.push(`${text}: stored, but nobody sent it`);
      if (seen.has(text)) faults.push(`${text}: stored twice`);
      seen.add(text);
      if (isComplete && !whole.has(text)) faults.push(`${text}: stored as complete, but its reply never was`);
      if (isComplete && reply !== clusterReply(text)) faults.push(`${text}: stored with another reply: ${reply}`);
    }
    return faults;
  }

  /** What is stored of a conversation stands there in the order in which the model was asked. */
  #judgeOrder(stored: readonly StoredTurn[]): string[] {
    const begun = new Map<string, number>();
    for (const [place, call] of this.#model.calls.entries()) if (!this.#isExcused(call)) begun.set(call.text, place);
    const faults: string[] = [];
    for (const [sessionId, turns] of Map.groupBy(stored, (turn) => turn.sessionId)) {
      const places = turns.flatMap(({ text }) => begun.get(text) ?? []);
      if (places.some((place, index) => place < (places[index - 1] ?? -1))) faults.push(`${sessionId}: out of order`);
    }
    return faults;
  }

  #judgeOverlaps(): string[] {
    return this.#model.calls.flatMap((call) => {
      const others = call.overlapped.filter((other) => !this.#isExcused(other) && !this.#isExcused(call));
      return others.map((other) => `${call.text} (${call.instance}) began beside ${other.text} (${other.instance})`);
    });
  }

  #isExcused({ instance }: ModelCall): boolean {
    return this.cutOff.has(instance);
  }

  async #readStored(api: ApiClient): Promise<StoredTurn[]> {
    const turns: StoredTurn[] = [];
    let place = "";
    do {
      const page = (await api.call("GET", `/api/companions/${this.#companion.id}/conversations?limit=100${place}`))
        .json;
      for (const { id, session_id } of page.data) {
        turns.push(...(await readConversation(api, id, String(session_id))));
      }
      place = page.next_cursor === null ? "" : `&cursor=${encodeURIComponent(page.next_cursor)}`;
    } while (place !== "");
    return turns;
  }
}

async function readConversation(api: ApiClient, id: string, sessionId: string): Promise<StoredTurn[]> {
  const { json } = await api.call("GET", `/api/conversations/${id}`);
  const messages = json["messages"] as { role: string; text: string; complete: boolean }[];
  return messages.flatMap(({ role, text }, index) => {
    if (role !== "user") return [];
    const next = messages[index + 1];
    const reply = next?.role === "assistant" ? next : undefined;
    return { sessionId, text, reply: reply?.text ?? null, isComplete: reply?.complete === true };
  });
}

/** What came before the connection broke counts. */
async function readToTheEnd(response: Response): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  try {
    for await (const bytes of response.body ?? []) text += decoder.decode(bytes, { stream: true });
  } catch {
    // Cut off.
  }
  return text;
}
