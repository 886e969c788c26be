/** Writes one payload into every stored field, and reads each back wherever it is shown. */
import { readStream } from "../test/support/chat.ts";
import { postCallEvent, signDelivery } from "../test/support/elevenlabs-delivery.ts";
import type { Call, ResponseBody } from "./client.ts";
import { PayloadNotes } from "./injection-notes.ts";
import { listPageFaults } from "./injection-pages.ts";
import { tryPickyFields } from "./injection-picky.ts";
import type { InjectionWorld } from "./injection-world.ts";
import { makeCompanion, signIn } from "./world.ts";

/** What a header can contain unchanged. */
const headerText = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

export class PayloadWriter {
  readonly #of: InjectionWorld;
  readonly #payload: string;
  readonly #address: string;
  readonly #notes: PayloadNotes;

  constructor(of: InjectionWorld, payload: string, index: number) {
    this.#of = of;
    this.#payload = payload;
    this.#notes = new PayloadNotes(payload, of.tally);
    this.#address = `203.0.${index >> 8}.${index & 255}`;
  }

  async writeAll(): Promise<void> {
    const fields = this.#settings();
    const made = await this.#make(fields);
    await this.#read(made, { ...fields, voice_id: this.#payload });
    await this.#search(made);
    await this.#openToVisitors(made);
    await this.#speak(made);
    await this.#tryOut(made);
    await this.#name(made);
    await this.#change(fields);
    await this.#signIn();
  }

  #settings() {
    const text = this.#payload;
    return {
      name: text,
      system_prompt: text,
      greeting: text,
      starters: [text, text],
      metadata: { word: text, keys: { [text]: text }, list: [text, { deep: [text] }] },
    };
  }

  /** With an idempotency key, if the payload can be one. */
  async #make(fields: object): Promise<ResponseBody> {
    const { key } = this.#of;
    const retry = headerText.test(this.#payload) ? { "idempotency-key": this.#payload } : {};
    const body = { ...fields, voice_id: this.#payload };
    const call: Call = { method: "POST", path: "/api/companions", body, headers: retry };
    const made = await this.#notes.write(key, call);
    if ("idempotency-key" in retry) {
      const again = await this.#notes.write(key, call);
      this.#notes.equal("the response to a retry", again.text, made.text);
    }
    return made.json;
  }

  async #read({ id }: ResponseBody, expected: object): Promise<void> {
    for (const client of [this.#of.key, this.#of.cookie]) {
      const { json } = await client.send({ method: "GET", path: `/api/companions/${id}` });
      for (const [name, value] of Object.entries(expected)) this.#notes.equal(name, json[name], value);
    }
  }

  async #search({ id }: ResponseBody): Promise<void> {
    const { key } = this.#of;
    const text = this.#payload;
    const find = async (path: string, query: Record<string, string>) =>
      (await key.send({ method: "GET", path: `${path}?${new URLSearchParams({ ...query, limit: "100" })}` })).json.data;
    const byName = await find("/api/companions", { q: text });
    const isFull = byName.length === 100;
    this.#notes.found(`q=${text}`, isFull || byName.some((one) => one.id === id));
    for (const { name } of byName)
      this.#notes.found(`q=${text}: ${name}`, String(name).toLowerCase().includes(text.toLowerCase()));
    for (const [path, pick] of [
      ["word", (metadata: Metadata) => metadata.word],
      ["list", (metadata: Metadata) => metadata.list[0]],
      [`keys.${text}`, (metadata: Metadata) => metadata.keys[text]],
    ] as const) {
      const found = await find("/api/companions", { [`metadata.${path}`]: text });
      this.#notes.found(`metadata.${path}`, found.length === 100 || found.some((one) => one.id === id));
      for (const { metadata } of found) {
        this.#notes.found(`metadata.${path}=${text}`, pick(metadata as Metadata) === text);
      }
    }
    const usage = await key.send({
      method: "GET",
      path: `/api/usage?${new URLSearchParams({ "metadata.word": text, group_by: "companion" })}`,
      headers: { accept: "text/csv" },
    });
    for (const line of usage.text.trimEnd().split("\r\n")) {
      this.#notes.found(`usage as CSV: ${line}`, /^[\w-]+(,[\w-]*){10}$/.test(line));
    }
  }

  async #openToVisitors({ id, embed_token: token }: ResponseBody): Promise<void> {
    const { key, world, shapes } = this.#of;
    const text = this.#payload;
    for (const fault of await listPageFaults(world.url, token, text, shapes)) {
      this.#notes.changedPage(fault);
    }
    const visit = { session_id: crypto.randomUUID(), visitor_id: crypto.randomUUID() };
    const visitor = { "x-forwarded-for": this.#address };
    const path = `/api/embed/${token}/chat`;
    const body = { message: text, ...visit };
    const reply = await this.#notes.write(key, { method: "POST", path, body, headers: visitor });
    this.#notes.equal("the reply", readStream(reply.text), { texts: [text], isDone: true });
    const query = new URLSearchParams({ companion_id: id, q: text });
    const { json } = await key.send({ method: "GET", path: `/api/conversations?${query}` });
    this.#notes.found(`conversations?q=${text}`, json.data.length === 1);
    await this.#readConversation(json.data[0]?.id, [text, text]);
  }

  async #readConversation(id: string | undefined, expected: string[]): Promise<void> {
    for (const client of [this.#of.key, this.#of.cookie]) {
      const { json } = await client.send({ method: "GET", path: `/api/conversations/${id}` });
      this.#notes.equal(
        "messages",
        (json.messages as { text: string }[])?.map((message) => message.text),
        expected,
      );
    }
  }

  /** A voice call: what goes to the provider, and the transcript that comes back. */
  async #speak({ id, embed_token: token }: ResponseBody): Promise<void> {
    const { key, voice, webhookSecret, tally } = this.#of;
    const path = `/api/embed/${token}/voice-token`;
    const { json } = await this.#notes.write(key, {
      method: "POST",
      path,
      headers: { "x-forwarded-for": this.#address },
    });
    const agent = voice.agents.get(String(json.agent_id));
    this.#notes.equal("the voice agent", agent && [agent.name, agent.prompt, agent.firstMessage, agent.voiceId], [
      this.#payload,
      this.#payload,
      this.#payload,
      this.#payload,
    ]);
    const session = voice.sessions.find(({ agentId }) => agentId === json.agent_id);
    const delivery = postCallEvent(session?.conversationId ?? "", [
      { role: "user", message: this.#payload },
      { role: "agent", message: this.#payload },
    ]);
    const signature = signDelivery(webhookSecret, delivery);
    const headers = { "elevenlabs-signature": signature, "x-forwarded-for": this.#address };
    await this.#notes.write(key, { method: "POST", path: "/api/voice/elevenlabs/webhook", body: delivery, headers });
    tally.did("calls by voice");
    const list = await key.send({ method: "GET", path: `/api/companions/${id}/conversations` });
    const spoken = this.#payload.trim();
    await this.#readConversation(list.json.data[0]?.id, [spoken, spoken]);
  }

  async #tryOut({ id }: ResponseBody): Promise<void> {
    const text = this.#payload;
    const history = [
      { role: "user", text },
      { role: "assistant", text },
    ];
    const path = `/api/companions/${id}/test-chat`;
    const { text: raw } = await this.#notes.write(this.#of.cookie, {
      method: "POST",
      path,
      body: { message: text, history, trace: true },
    });
    this.#notes.equal("the trial's reply", readStream(raw), { texts: [text], isDone: true });
    const [, trace = "{}"] = /^: trace (\{[^\n]*\})$/m.exec(raw) ?? [];
    const { messages = [] } = JSON.parse(trace) as { messages?: { text: string }[] };
    this.#notes.equal(
      "the trial's trace",
      messages.map((message) => message.text),
      [text, text, text, text],
    );
  }

  /** Names of embed tokens and API keys. */
  async #name({ id }: ResponseBody): Promise<void> {
    const { key, cookie } = this.#of;
    const body = { name: this.#payload };
    const path = `/api/companions/${id}/embed-tokens`;
    await this.#notes.write(key, { method: "POST", path, body });
    const tokens = await cookie.send({ method: "GET", path });
    this.#notes.equal("an embed token's name", tokens.json.data[0]?.name, this.#payload);
    const scopes = ["companions:read"];
    const made = await this.#notes.write(key, { method: "POST", path: "/api/keys", body: { ...body, scopes } });
    this.#notes.equal("a key's name", made.json.name, this.#payload);
  }

  /** The same by PATCH. */
  async #change(fields: object): Promise<void> {
    const { key } = this.#of;
    const { id, token } = await makeCompanion(key, { name: "plain" });
    const path = `/api/companions/${id}`;
    const sent = { ...fields, voice_agent_id: this.#payload };
    await this.#notes.write(key, { method: "PATCH", path, body: sent });
    await this.#read({ id } as ResponseBody, sent);
    await tryPickyFields(this.#of, this.#notes, { id, token });
  }

  /** The browser's name for itself, which sessions show. */
  async #signIn(): Promise<void> {
    if (!headerText.test(this.#payload)) return;
    const { world, tally, email } = this.#of;
    const client = await signIn(world, tally, email, { userAgent: this.#payload });
    tally.did("values written");
    const { json } = await client.send({ method: "GET", path: "/api/session" });
    this.#notes.equal("user_agent", (json.session as { user_agent: string }).user_agent, this.#payload);
  }
}

interface Metadata {
  word: string;
  keys: Record<string, string>;
  list: unknown[];
}
