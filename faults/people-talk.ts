/** Conversations that people take from a companion: what visitors and people saw, beside what is stored. */
import { type ApiClient, apiClient } from "../test/support/api-client.ts";
import { readStream, sendChat } from "../test/support/chat.ts";
import { type OpenedEvents, openEvents } from "../test/support/event-frames.ts";
import { eventually } from "../test/support/eventually.ts";
import type { Tally } from "./row.ts";

export const peopleFaults = [
  "messages of visitors lost or stored twice",
  "messages of people lost or stored twice",
  "messages answered and kept, or answered twice",
  "replies stored with other words than were read",
  "words of people brought twice to a plain client",
  "listeners that differ from what is stored",
  "calls with a wrong response",
] as const;

/** Where everybody asks; of several instances, another one each time. */
export interface PeopleWorld {
  visitorsUrl(): string;
  teamUrl(): string;
  readonly key: string;
  readonly companion: { id: string; token: string };
  readonly tally: Tally;
}

export const handoffOfRaces = {
  ...{ mode: "any", ask: ["visitor", "model"], when: "always", hours: null, wait_seconds: 600, idle_minutes: 60 },
  ...{ waiting_text: "Somebody is asked.", person_text: "Somebody reads it.", unavailable_text: "Nobody is there." },
};

/** What a listener has got, over all its streams. */
export type Heard = Pick<OpenedEvents, "frames">;

/** `kept`: for people. `stopped`: its reply was cut off by somebody who took the conversation. */
export type Fate = "answered" | "kept" | "stopped" | "refused" | "broken";

export interface SentToPeople {
  readonly text: string;
  readonly fate: Fate;
  readonly status: number;
  /** What was read. */
  readonly reply: string;
}

export interface StoredMessage {
  role: string;
  text: string;
  complete: boolean;
  author?: { name: string } | null;
}

/** All of a conversation, oldest first. */
export async function readMessages(api: ApiClient, id: string): Promise<StoredMessage[]> {
  const messages: StoredMessage[] = [];
  let place = "";
  do {
    const { json } = await api.call("GET", `/api/conversations/${id}${place}`);
    messages.unshift(...(json["messages"] as StoredMessage[]));
    const next = json["messages_next_cursor"];
    place = typeof next === "string" ? `?messages_cursor=${encodeURIComponent(next)}` : "";
  } while (place !== "");
  return messages;
}

let addresses = 0;
/** Listeners and requests are limited by address: each comes from another one. */
export function nextAddress(): Record<string, string> {
  addresses++;
  return { "x-forwarded-for": `100.${64 + ((addresses >> 16) & 63)}.${(addresses >> 8) & 255}.${addresses & 255}` };
}

/** What the models of these tests reply to it holds the text. */
function isReplyOf(text: string, reply: string): boolean {
  return reply.startsWith("You said") && reply.includes(text);
}

export class PeopleTalk {
  readonly sessionId = crypto.randomUUID();
  readonly visitorId = crypto.randomUUID();
  readonly sent: SentToPeople[] = [];
  /** Acknowledged, in the order of their `seq`. */
  readonly written: { text: string; seq: number }[] = [];
  id = "";
  readonly #world: PeopleWorld;
  #count = 0;

  constructor(world: PeopleWorld) {
    this.#world = world;
  }

  /** One turn with the companion. */
  async begin(): Promise<this> {
    const { companion, tally } = this.#world;
    const { fate, status } = await this.say();
    if (fate !== "answered") tally.fault("calls with a wrong response", `the first message: ${fate}, ${status}`);
    const { json } = await this.#call("GET", `/api/conversations?companion_id=${companion.id}&limit=100`);
    this.id = json.data.find((row) => row["session_id"] === this.sessionId)?.id ?? "";
    return this;
  }

  /** Never rejects. `directives` are the mock provider's, and no part of what is compared. */
  async say({ isPlain = false, directives = "", url = this.#world.visitorsUrl() } = {}): Promise<SentToPeople> {
    const text = `${this.sessionId} number ${this.#count++};`;
    const body = { session_id: this.sessionId, visitor_id: this.visitorId, message_id: crypto.randomUUID() };
    const sent = await this.#send(url, {
      ...body,
      message: text + directives,
      ...(!isPlain && { events: true }),
    }).catch((error: unknown) => ({ fate: "broken" as const, status: 0, reply: String(error) }));
    const noted = { text, ...sent };
    this.sent.push(noted);
    return noted;
  }

  async #send(url: string, body: object): Promise<Omit<SentToPeople, "text">> {
    const headers = { "content-type": "application/json", ...nextAddress() };
    const signal = AbortSignal.timeout(40_000);
    const response = await sendChat(url, this.#world.companion.token, body, { headers, signal });
    const { status } = response;
    const raw = await response.text();
    if (!response.ok) return { fate: "refused", status, reply: raw };
    const data = raw.split("\n\n").filter((block) => !block.includes("event: "));
    const { texts, isDone } = readStream(data.join("\n\n"));
    const reply = texts.join("");
    if (raw.endsWith(": error taken\n\n")) return { fate: "stopped", status, reply };
    if (!isDone) return { fate: "broken", status, reply: raw.slice(-200) };
    return { fate: reply.startsWith("You said") ? "answered" : "kept", status, reply };
  }

  #call(method: string, path: string, body?: object, url = this.#world.teamUrl()) {
    return apiClient(url, this.#world.key).call(method, path, body);
  }

  /** Somebody of the team does it. */
  team(what: string, body: object, url?: string) {
    return this.#call("POST", `/api/conversations/${this.id}/${what}`, body, url);
  }

  /** Resolves with the status; whatever was acknowledged is expected to stay. */
  async write(as: object, url?: string, clientId = crypto.randomUUID()): Promise<number> {
    const text = `written ${clientId}`;
    const response = await this.team("messages", { text, client_id: clientId, as }, url);
    const isKnown = this.written.some((one) => one.text === text);
    if (response.status === 201 && !isKnown) this.written.push({ text, seq: Number(response.json["seq"]) });
    return response.status;
  }

  async state(): Promise<string> {
    const { json } = await this.#call("GET", `/api/conversations/${this.id}`);
    return (json["handoff"] as { state: string } | undefined)?.state ?? "companion";
  }

  get livePath(): string {
    return `/api/embed/${this.#world.companion.token}/live?session_id=${this.sessionId}&visitor_id=${this.visitorId}`;
  }

  listen(url = this.#world.visitorsUrl(), lastId?: string): Promise<OpenedEvents> {
    return openEvents(url + this.livePath, {
      ...nextAddress(),
      ...(lastId !== undefined && { "last-event-id": lastId }),
    });
  }

  readStored(): Promise<StoredMessage[]> {
    return readMessages(apiClient(this.#world.teamUrl(), this.#world.key), this.id);
  }

  /** Call it when nothing is under way any more. */
  async judge(listeners: readonly Heard[] = []): Promise<void> {
    const { tally } = this.#world;
    const stored = await this.readStored();
    this.#judgeVisitors(stored);
    this.#judgePeople(stored);
    for (const listener of listeners) {
      const isThere = () => idsOf(listener).at(-1) === stored.length;
      await eventually(isThere, { withinMs: 10_000 }).catch(() => {});
      const difference = differenceOf(listener, stored);
      if (difference !== null) tally.fault("listeners that differ from what is stored", `${this.id}: ${difference}`);
    }
  }

  #judgeVisitors(stored: readonly StoredMessage[]): void {
    const { tally } = this.#world;
    let replies = 0;
    for (const { text, fate, status, reply } of this.sent) {
      const about = `${text} ${fate} ${status} "${reply}"`;
      if (fate === "refused" || fate === "broken") tally.fault("calls with a wrong response", about);
      const found = stored.flatMap((message, at) =>
        message.role === "user" && message.text.startsWith(text) ? at : [],
      );
      if (found.length === 0 && (fate === "refused" || fate === "broken")) continue;
      if (found.length !== 1) tally.fault("messages of visitors lost or stored twice", `${found.length} of ${about}`);
      const next = stored[(found[0] ?? 0) + 1];
      const answer = next !== undefined && isCompanions(next) ? next : null;
      if (answer !== null) replies++;
      const isRight = fate === "kept" ? answer === null : answer?.complete === (fate === "answered");
      if (!isRight) tally.fault("messages answered and kept, or answered twice", `${about}, stored "${answer?.text}"`);
      if (answer === null || fate === "kept") continue;
      const isSame =
        fate === "answered" ? answer.text === reply && isReplyOf(text, reply) : answer.text.startsWith(reply);
      if (!isSame) tally.fault("replies stored with other words than were read", `${about}, stored "${answer.text}"`);
    }
    const all = stored.filter(isCompanions).length;
    if (all !== replies) tally.fault("messages answered and kept, or answered twice", `${all} replies to ${replies}`);
  }

  #judgePeople(stored: readonly StoredMessage[]): void {
    const { tally } = this.#world;
    const byPeople = stored.filter(({ author }) => author != null);
    if (byPeople.length !== this.written.length) {
      const example = `${this.id}: ${byPeople.length} stored, ${this.written.length} acknowledged`;
      tally.fault("messages of people lost or stored twice", example);
    }
    const kept = this.sent.filter(({ fate }) => fate === "kept").map(({ reply }) => reply);
    for (const { text, seq } of this.written) {
      if (stored[seq - 1]?.text !== text) tally.fault("messages of people lost or stored twice", `${this.id} ${seq}`);
      const times = kept.filter((reply) => reply.includes(text)).length;
      if (times > 1) tally.fault("words of people brought twice to a plain client", `${times} times ${text}`);
    }
  }
}

const isCompanions = ({ role, author }: StoredMessage) => role === "assistant" && author == null;

export function idsOf({ frames }: Heard): number[] {
  return frames.flatMap(({ event, id }) => (event === "message" ? Number(id) : []));
}

/** Null if it has each message from its first to the newest once, in order, with the stored words. */
export function differenceOf({ frames }: Heard, stored: readonly StoredMessage[]): string | null {
  const messages = frames.filter(({ event }) => event === "message");
  const first = Number(messages[0]?.id ?? 0);
  if (first === 0) return "nothing came";
  for (const [at, { id, data }] of messages.entries()) {
    const expected = stored[first + at - 1];
    if (Number(id) !== first + at || expected === undefined) return `${id} came where ${first + at} was due`;
    const author = expected.author != null ? "person" : expected.role === "user" ? "visitor" : "companion";
    if (data.author.type !== author) return `${id} is of the ${data.author.type}, not of the ${author}`;
    if (data.text !== expected.text) return `${id} is "${data.text}", not "${expected.text}"`;
  }
  const missing = stored.length - (first + messages.length - 1);
  return missing === 0 ? null : `${missing} of ${stored.length} did not come`;
}
