/** A language-model provider for benchmarks: OpenAI's stream over raw TCP, so that it costs as little as it can. */
import type { Socket } from "bun";
import { askingLine, findPlan, sharedMicros } from "./plan.ts";

/** What a reply is made of over one of the two APIs. */
interface Dialect {
  /** Before the first text; empty for chats. */
  begin: string;
  eventStart: string;
  eventEnd: string;
  lastEvents: string;
}

interface Reply {
  dialect: Dialect;
  plan: ReturnType<typeof findPlan>;
  sent: number;
  nextMs: number;
}

/** What the provider tells when asked. */
export interface ProviderCounters {
  requests: number;
  active: number;
  peakActive: number;
  abandonedAt: Record<string, number>;
}

interface Connection {
  received: string;
  reply: Reply | null;
  /** What the socket did not take yet; nothing more is written before it is empty. */
  unsent: string;
}

const head =
  "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n";
const chats: Dialect = {
  begin: "",
  eventStart:
    'data: {"id":"chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz012","object":"chat.completion.chunk","created":1790000000,' +
    '"model":"gpt-6-luna-2026-09-10","service_tier":"default","system_fingerprint":"fp_0123456789","choices":[{"index":0,' +
    '"delta":{"content":"',
  eventEnd: '"},"logprobs":null,"finish_reason":null}]}\n\n',
  lastEvents:
    'data: {"id":"chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz012","object":"chat.completion.chunk","created":1790000000,' +
    '"model":"gpt-6-luna-2026-09-10","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]}\n\n' +
    "data: [DONE]\n\n",
};
const itemId = "msg_0123456789abcdef0123456789abcdef0123456789abcdef";
const response = (status: string) =>
  `"sequence_number":0,"response":{"id":"resp_0123456789abcdef","object":"response","created_at":1790000000,"status":"${status}",` +
  '"error":null,"incomplete_details":null,"instructions":null,"model":"gpt-6-luna-2026-09-10","output":[],"usage":null}}';
/** Without what pads events, as the server asks for. */
const responses: Dialect = {
  begin:
    `event: response.created\ndata: {"type":"response.created",${response("in_progress")}\n\n` +
    `event: response.in_progress\ndata: {"type":"response.in_progress",${response("in_progress")}\n\n` +
    'event: response.output_item.added\ndata: {"type":"response.output_item.added","sequence_number":2,"output_index":0,' +
    `"item":{"id":"${itemId}","type":"message","status":"in_progress","content":[],"role":"assistant"}}\n\n`,
  eventStart: `event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":4,"item_id":"${itemId}","output_index":0,"content_index":0,"delta":"`,
  eventEnd: '","logprobs":[]}\n\n',
  lastEvents: `event: response.completed\ndata: {"type":"response.completed",${response("completed")}\n\n`,
};

const active = new Set<Socket<Connection>>();
/** Replies whose visitors ask for each write. */
const asked = new Map<number, Socket<Connection>>();
/** By the reply's number, when its server hung up before the end; microseconds of the shared clock. */
const abandonedAt: Record<string, number> = {};
let requests = 0;
let peakActive = 0;

function chunked(payload: string): string {
  return `${payload.length.toString(16)}\r\n${payload}\r\n`;
}

function send(socket: Socket<Connection>, text: string): void {
  const written = socket.write(text);
  if (written < text.length) socket.data.unsent = text.slice(Math.max(0, written));
}

function beginReply(socket: Socket<Connection>, dialect: Dialect, body: string, nowMs: number): void {
  requests++;
  const plan = findPlan(body);
  // Replies that begin together must not go on together; the first text comes at once, so that its way can be timed.
  const reply = {
    dialect,
    plan,
    sent: 0,
    nextMs: nowMs + plan.gapMs + (plan.gapMs > 0 ? (requests * 7) % plan.gapMs : 0),
  };
  socket.data.reply = reply;
  active.add(socket);
  peakActive = Math.max(peakActive, active.size);
  if (plan.isLockStep) asked.set(plan.id, socket);
  send(socket, head);
  if (plan.gapMs > 0 || plan.isLockStep) writeNext(socket, reply);
}

function writeAsked(lines: string[]): void {
  for (const line of lines) {
    const socket = asked.get(Number(line));
    const reply = socket?.data.reply;
    if (socket === undefined || !reply) continue;
    writeNext(socket, reply);
    if (socket.data.reply === null) asked.delete(Number(line));
  }
}

function writeNext(socket: Socket<Connection>, reply: Reply): void {
  const { begin, eventStart, eventEnd, lastEvents } = reply.dialect;
  let events = reply.sent === 0 ? begin : "";
  const micros = sharedMicros();
  for (let index = 0; index < reply.plan.perWrite && reply.sent < reply.plan.chunks; index++) {
    events += `${eventStart}${micros} ${eventEnd}`;
    reply.sent++;
  }
  if (reply.sent >= reply.plan.chunks) {
    active.delete(socket);
    socket.data.reply = null;
    send(socket, `${chunked(events)}${chunked(lastEvents)}0\r\n\r\n`);
    return;
  }
  send(socket, chunked(events));
}

function receive(socket: Socket<Connection>, bytes: Buffer): void {
  socket.data.received += bytes.toString("latin1");
  if (socket.data.received.startsWith(askingLine)) {
    const lines = socket.data.received.split("\n");
    socket.data.received = `${askingLine}${lines.pop() ?? ""}`;
    lines[0] = (lines[0] ?? "").slice(askingLine.length);
    writeAsked(lines);
    return;
  }
  const headEnd = socket.data.received.indexOf("\r\n\r\n");
  if (headEnd === -1) return;
  const requestHead = socket.data.received.slice(0, headEnd);
  const length = Number(/content-length: (\d+)/i.exec(socket.data.received)?.[1] ?? 0);
  const bodyEnd = headEnd + 4 + length;
  if (socket.data.received.length < bodyEnd) return;
  const body = socket.data.received.slice(headEnd + 4, bodyEnd);
  socket.data.received = socket.data.received.slice(bodyEnd);
  if (socket.data.reply === null) {
    const isResponses = requestHead.includes("/responses ");
    beginReply(socket, isResponses ? responses : chats, body, performance.now());
  }
}

function forget(socket: Socket<Connection>): void {
  const reply = socket.data.reply;
  if (reply !== null) abandonedAt[reply.plan.id] = sharedMicros();
  socket.data.reply = null;
  active.delete(socket);
}

const listener = Bun.listen<Connection>({
  hostname: "127.0.0.1",
  port: 0,
  socket: {
    open(socket) {
      socket.data = { received: "", reply: null, unsent: "" };
      socket.setNoDelay(true);
    },
    data: receive,
    drain(socket) {
      const rest = socket.data.unsent;
      socket.data.unsent = "";
      if (rest !== "") send(socket, rest);
    },
    close: forget,
    error: forget,
  },
});

function turn(): void {
  const nowMs = performance.now();
  let isAnySaturated = false;
  for (const socket of active) {
    const reply = socket.data.reply;
    if (reply === null || reply.plan.isLockStep || socket.data.unsent !== "") continue;
    if (reply.plan.gapMs === 0) {
      isAnySaturated = true;
      writeNext(socket, reply);
    } else if (reply.nextMs <= nowMs) {
      reply.nextMs += reply.plan.gapMs;
      writeNext(socket, reply);
    }
  }
  // Paced replies are looked at every millisecond; saturated ones whenever the loop is free.
  if (isAnySaturated) setImmediate(turn);
  else setTimeout(turn, 1);
}
turn();

// One line a question on stdin, one JSON line back: counters for the assertions of the harness.
process.stdin.on("data", () => {
  const counters: ProviderCounters = { requests, active: active.size, peakActive, abandonedAt };
  console.log(JSON.stringify(counters));
});
process.stdin.on("end", () => process.exit(0));
console.log(JSON.stringify({ port: listener.port }));
