/**
 * The ledger of a cluster's tests: what visitors saw, beside what the model was asked and what is stored. No matter what an
 * instance or a server went through, these must agree.
 */
import type { ApiClient } from "./api-client.ts";
import { readStream, sendChat } from "./chat.ts";
import { type ClusterModel, clusterMessage, clusterReply, type ModelCall } from "./cluster-model.ts";
import { type LedgerCompanion, readStored, type StoredTurn } from "./cluster-stored.ts";

/** A reply that ends while PostgreSQL is away waits 15 s for it. A reply that is open after this has no end. */
const patienceMs = 40_000;

export const ledgerFaults = [
  "requests without an end",
  "acknowledged replies not stored",
  "replies with other words",
  "turns stored that no one sent",
  "turns stored twice",
  "turns stored as complete that never were",
  "conversations out of order",
  "turns beside another of their conversation",
  "differences between usage and what is stored",
] as const;

export interface LedgerFault {
  what: (typeof ledgerFaults)[number];
  example: string;
}

/**
 * `done`: the reply came whole, with its `[DONE]`. `cut`: the stream ended without it. `refused`: another status than
 * 200. `broken`: the connection ended before an answer. `hung`: it had no end in time. `open`: it is under way.
 */
export type Fate = "open" | "done" | "cut" | "refused" | "broken" | "hung";

export interface Sent {
  readonly text: string;
  readonly sessionId: string;
  fate: Fate;
  /** 0 if there was no answer. */
  status: number;
  /** The error code of a refusal; null also for a proxy's own page. */
  code: string | null;
  /** The words of the reply that have come. */
  reply: string;
}

export class ClusterLedger {
  readonly sent: Sent[] = [];
  readonly companion: LedgerCompanion;
  readonly #excused = new Set<ModelCall>();
  readonly #model: ClusterModel;
  readonly #firstCall: number;
  #count = 0;

  /** Only what the model is asked from now on is this ledger's. */
  constructor(model: ClusterModel, companion: LedgerCompanion) {
    this.#model = model;
    this.companion = companion;
    this.#firstCall = model.calls.length;
  }

  get calls(): readonly ModelCall[] {
    return this.#model.calls.slice(this.#firstCall);
  }

  /**
   * The slots of turns that run now, of all instances or one, may be lost: because PostgreSQL crashes, or the instance is
   * cut off from it. Others of their conversations may begin beside them.
   */
  excuseOpenCalls(instance?: string): void {
    const lost = this.calls.filter((call) => call.isOpen && (instance === undefined || call.instance === instance));
    for (const call of lost) this.#excused.add(call);
  }

  count(fate: Fate): number {
    return this.sent.filter((one) => one.fate === fate).length;
  }

  /** Sends the conversation's next message and reads the reply to its end; never rejects. */
  async send(url: string, sessionId: string): Promise<Sent> {
    const sent: Sent = {
      text: clusterMessage(sessionId, this.#count++),
      sessionId,
      fate: "open",
      status: 0,
      code: null,
      reply: "",
    };
    this.sent.push(sent);
    const body = { message: sent.text, session_id: sessionId };
    const headers = { "content-type": "application/json", "x-forwarded-for": nextAddress() };
    const deadline = AbortSignal.timeout(patienceMs);
    try {
      const response = await sendChat(url, this.companion.token, body, { headers, signal: deadline });
      sent.status = response.status;
      let isDone = false;
      const raw = await readToTheEnd(response, (text) => {
        if (!response.ok) return;
        const whole = text.slice(0, text.lastIndexOf("\n") + 1);
        const stream = readStream(whole);
        sent.reply = stream.texts.join("");
        isDone = stream.isDone;
      });
      if (isDone) sent.fate = "done";
      else if (deadline.aborted) sent.fate = "hung";
      else sent.fate = response.ok ? "cut" : "refused";
      if (!response.ok) sent.code = /"code":"([a-z_]+)"/.exec(raw)?.[1] ?? null;
    } catch {
      sent.fate = deadline.aborted ? "hung" : "broken";
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

  async countStored(api: ApiClient): Promise<number> {
    return (await readStored(api, this.companion)).length;
  }

  /** Everything that does not agree; empty if all does. Call it when no request is under way. */
  async findFaults(api: ApiClient): Promise<LedgerFault[]> {
    const stored = await readStored(api, this.companion);
    const usage = await api.call("GET", `/api/usage?companion_id=${this.companion.id}`);
    const counted = usage.json.data.reduce((sum, row) => sum + Number(row["messages"]), 0);
    const faults = [...this.#judgeVisitors(stored), ...this.#judgeStored(stored), ...this.#judgeOrder(stored)];
    faults.push(...this.#judgeOverlaps());
    if (counted !== stored.length) {
      const example = `${counted} messages in usage, ${stored.length} stored`;
      faults.push({ what: "differences between usage and what is stored", example });
    }
    return faults;
  }

  #judgeVisitors(stored: readonly StoredTurn[]): LedgerFault[] {
    const complete = new Set(stored.filter((turn) => turn.isComplete).map(({ text }) => text));
    const faults: LedgerFault[] = [];
    for (const { text, fate, reply } of this.sent) {
      if (fate === "hung") faults.push({ what: "requests without an end", example: text });
      if (fate !== "done") continue;
      if (reply !== clusterReply(text)) faults.push({ what: "replies with other words", example: `${text}: ${reply}` });
      if (!complete.has(text)) faults.push({ what: "acknowledged replies not stored", example: text });
    }
    return faults;
  }

  #judgeStored(stored: readonly StoredTurn[]): LedgerFault[] {
    const sent = new Set(this.sent.map(({ text }) => text));
    const whole = new Set(this.calls.filter((call) => call.isWhole).map(({ text }) => text));
    const seen = new Set<string>();
    const faults: LedgerFault[] = [];
    for (const { text, reply, isComplete } of stored) {
      if (!sent.has(text)) faults.push({ what: "turns stored that no one sent", example: text });
      if (seen.has(text)) faults.push({ what: "turns stored twice", example: text });
      seen.add(text);
      if (!isComplete) continue;
      if (!whole.has(text)) faults.push({ what: "turns stored as complete that never were", example: text });
      if (reply !== clusterReply(text)) faults.push({ what: "replies with other words", example: `${text}: ${reply}` });
    }
    return faults;
  }

  /** What is stored of a conversation stands there in the order in which the model was asked. */
  #judgeOrder(stored: readonly StoredTurn[]): LedgerFault[] {
    const begun = new Map<string, number>();
    for (const [place, call] of this.calls.entries()) if (!this.#excused.has(call)) begun.set(call.text, place);
    const faults: LedgerFault[] = [];
    for (const [sessionId, turns] of Map.groupBy(stored, (turn) => turn.sessionId)) {
      const places = turns.flatMap(({ text }) => begun.get(text) ?? []);
      const isOrdered = places.every((place, index) => place > (places[index - 1] ?? -1));
      if (!isOrdered) faults.push({ what: "conversations out of order", example: sessionId });
    }
    return faults;
  }

  #judgeOverlaps(): LedgerFault[] {
    return this.calls.flatMap((call) => {
      const others = call.overlapped.filter((other) => !this.#excused.has(other) && !this.#excused.has(call));
      return others.map((other) => ({
        what: "turns beside another of their conversation" as const,
        example: `${call.text} (${call.instance}) began beside ${other.text} (${other.instance})`,
      }));
    });
  }
}

/** What came before the connection broke counts. */
async function readToTheEnd(response: Response, onText: (soFar: string) => void): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  try {
    for await (const bytes of response.body ?? []) {
      text += decoder.decode(bytes, { stream: true });
      onText(text);
    }
  } catch {
    // Cut off.
  }
  return text;
}

let addresses = 0;

/** Requests are limited by address: each message comes from another one. */
function nextAddress(): string {
  addresses++;
  return `100.${64 + ((addresses >> 16) & 63)}.${(addresses >> 8) & 255}.${addresses & 255}`;
}
