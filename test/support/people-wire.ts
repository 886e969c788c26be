/** The wire of people who step in, in front of a server: its answers are those of the contract, and tests act the team. */
import type { CompanionSettings } from "../../src/domain/companion.ts";
import { startTestServer, type TestServer } from "./app.ts";

export interface PeopleConfig {
  handoff?: { available: boolean; reopens_at: string | null; ask: boolean; listen: boolean };
  leads?: { when: "unavailable" | "always"; consent_text: string };
  ratings?: true;
  ask_resolved?: true;
}

type Author = { type: "visitor" | "companion" | "person"; name: string | null };
interface Told {
  seq: number;
  author: Author;
  text: string;
  message_id: string | null;
  created_at: string;
}

const cors = {
  "access-control-allow-origin": "*",
  "access-control-allow-headers": "*",
  "access-control-allow-methods": "*",
};

/** One conversation at a time. */
export class PeopleWire implements AsyncDisposable {
  readonly companion: Awaited<ReturnType<TestServer["createCompanion"]>>;
  readonly server: TestServer;
  readonly url: string;
  /** What was sent besides chats: `PUT /resolved`. */
  readonly sent: { path: string; body: Record<string, unknown> }[] = [];
  /** Of each request to listen: its cursor. */
  readonly listened: number[] = [];
  config: PeopleConfig = {};
  messages: Told[] = [];
  state: Record<string, unknown> = {};
  /** Whether a proxy holds streams back. */
  isHeldBack = false;
  /** Whether there is nobody to be asked. */
  isAway = false;
  readonly #streams = new Set<ReadableStreamDefaultController<Uint8Array>>();
  readonly #proxy: ReturnType<typeof Bun.serve>;

  constructor(server: TestServer, companion: PeopleWire["companion"]) {
    this.server = server;
    this.companion = companion;
    this.#proxy = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      idleTimeout: 0,
      fetch: (request) => this.#answer(request),
    });
    this.url = `http://127.0.0.1:${this.#proxy.port}`;
    this.reset({});
  }

  get page(): string {
    return `${this.url}/c/${this.companion.embedToken}`;
  }

  get listeners(): number {
    return this.#streams.size;
  }

  reset(config: PeopleConfig): void {
    this.cut(": error unavailable\n\n");
    this.config = config;
    this.messages = [];
    this.sent.length = this.listened.length = 0;
    this.isHeldBack = this.isAway = false;
    this.state = { state: "companion", person: null, since: null, until: null, reason: null };
  }

  /** What a person of the team writes. */
  say(text: string, name = "Mia"): void {
    this.#add({ type: "person", name }, text, crypto.randomUUID());
  }

  type(typing: boolean): void {
    this.#send(`event: typing\ndata: ${JSON.stringify({ typing })}\n\n`);
  }

  change(state: "companion" | "waiting" | "person", reason: string, name = "Mia"): void {
    const person = state === "person" ? { name } : null;
    const until = state === "companion" ? null : new Date(Date.now() + 120_000).toISOString();
    this.state = { state, person, since: new Date().toISOString(), until, reason };
    this.#send(this.#frameState());
    if (state === "companion" && !this.config.handoff?.listen) this.cut();
  }

  /** Ends all streams, with a last line or without. */
  cut(last = ""): void {
    this.#send(last);
    for (const stream of this.#streams) stream.close();
    this.#streams.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    await this.#proxy.stop(true);
    await this.server.close();
  }

  #frameState(): string {
    return `event: state\ndata: ${JSON.stringify(this.state)}\n\n`;
  }

  #frame(message: Told): string {
    return `id: ${message.seq}\nevent: message\ndata: ${JSON.stringify(message)}\n\n`;
  }

  #send(text: string): void {
    for (const stream of this.#streams) stream.enqueue(new TextEncoder().encode(text));
  }

  #add(author: Author, text: string, message_id: string | null): void {
    const created_at = new Date().toISOString();
    const message = { seq: this.messages.length + 1, author, text, message_id, created_at };
    this.messages.push(message);
    if (!this.isHeldBack) this.#send(this.#frame(message));
  }

  async #answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const base = `/api/embed/${this.companion.embedToken}`;
    if (request.method === "OPTIONS") return new Response(null, { status: 204, headers: cors });
    const path = url.pathname.startsWith(base) ? url.pathname.slice(base.length) : null;
    if (path === "" && request.method === "GET") {
      const config = (await (await fetch(this.server.url + base)).json()) as object;
      return Response.json({ ...config, ...this.config }, { headers: cors });
    }
    if (path === "/live" && request.method === "GET") return this.#listen(url, request);
    if (path === "/chat" && request.method === "POST") return await this.#chat(request);
    if (path !== null && /^\/(live|person|contact|resolved|ratings\/)/.test(path))
      return await this.#take(request, path);
    return await this.#forward(request, url, request.method === "GET" ? undefined : await request.text());
  }

  async #forward(request: Request, url: URL, body: string | undefined): Promise<Response> {
    const headers = new Headers(request.headers);
    headers.delete("host");
    headers.set("accept-encoding", "identity");
    const address = this.server.url + url.pathname + url.search;
    const answer = await fetch(address, {
      method: request.method,
      headers,
      ...(body ? { body } : {}),
      redirect: "manual",
    });
    return new Response(answer.body, { status: answer.status, headers: answer.headers });
  }

  async #chat(request: Request): Promise<Response> {
    const text = await request.text();
    const { message, message_id } = JSON.parse(text);
    const isKnown = this.messages.some((one) => one.message_id === message_id);
    if (this.state["state"] === "companion") {
      const answer = await this.#forward(request, new URL(request.url), text);
      // As it is when it was stored; the mock's words are known.
      if (!isKnown) this.#add({ type: "visitor", name: null }, message, message_id);
      const whole = await answer.text();
      const reply =
        whole
          .match(/data: \{"text":.*/g)
          ?.map((line) => JSON.parse(line.slice(6)).text)
          .join("") ?? "";
      if (!isKnown) this.#add({ type: "companion", name: null }, reply, message_id);
      return new Response(whole, { headers: answer.headers });
    }
    if (!isKnown) this.#add({ type: "visitor", name: null }, message, message_id);
    return new Response(`${this.#frameState()}data: [DONE]\n\n`, {
      headers: { ...cors, "content-type": "text/event-stream" },
    });
  }

  #listen(url: URL, request: Request): Response {
    const after = Number(url.searchParams.get("after") ?? 0);
    this.listened.push(after);
    const missed = this.messages.filter(({ seq }) => seq > after);
    if (request.headers.get("accept")?.includes("application/json")) {
      const cursor = this.messages.length;
      const answer = Response.json({ state: this.state, data: missed, cursor }, { headers: cors });
      return answer;
    }
    if (this.state["state"] === "companion" && !this.config.handoff?.listen && missed.length === 0)
      return new Response(null, { status: 204, headers: cors });
    const streams = this.#streams;
    let mine: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        mine = controller;
        if (!this.isHeldBack) {
          const text = this.#frameState() + missed.map((message) => this.#frame(message)).join("");
          controller.enqueue(new TextEncoder().encode(text));
        }
        if (this.state["state"] === "companion" && !this.config.handoff?.listen) controller.close();
        else streams.add(controller);
      },
      cancel: () => void streams.delete(mine),
    });
    return new Response(body, { headers: { ...cors, "content-type": "text/event-stream" } });
  }

  async #take(request: Request, path: string): Promise<Response> {
    const body = request.method === "DELETE" ? {} : ((await request.json()) as Record<string, unknown>);
    this.sent.push({ path: `${request.method} ${path}`, body });
    if (path === "/person" && request.method === "DELETE") this.change("companion", "visitor");
    if (path !== "/person" || request.method === "DELETE") return new Response(null, { status: 204, headers: cors });
    if (!this.isAway && this.state["state"] === "companion") this.change("waiting", "asked");
    const { state, until } = this.state;
    const reopens_at = this.isAway ? "2026-11-30T09:00:00.000Z" : null;
    const contact = this.config.leads !== undefined && this.isAway;
    return Response.json({ state, until, available: !this.isAway, reopens_at, contact }, { headers: cors });
  }
}

export async function openPeopleWire(settings: Partial<CompanionSettings> = {}): Promise<PeopleWire> {
  const server = await startTestServer();
  return new PeopleWire(server, await server.createCompanion({ greeting: "How can I help?", ...settings }));
}
