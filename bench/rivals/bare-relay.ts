/** The yardstick: no more than a relay over the same kinds of socket has to do, `Bun.connect` to the provider and a direct stream to the visitor. */
import type { Socket } from "bun";

interface Exchange {
  controller: ReadableStreamDirectController | null;
  /** What came before the visitor's stream was read. */
  held: string;
  isOver: boolean;
  finish: () => void;
}

const provider = Number(process.argv[2]);
const idle: Socket<Exchange | null>[] = [];
const textStart = '"content":"';

/** The texts of what was read: the bench's provider never cuts an event, nor escapes a text. */
function frame(read: string): string {
  let frames = "";
  for (let at = read.indexOf(textStart); at !== -1; at = read.indexOf(textStart, at)) {
    const start = at + textStart.length;
    at = read.indexOf('"', start);
    frames += `data: {"text":"${read.slice(start, at)}"}\n\n`;
  }
  return frames;
}

function receive(socket: Socket<Exchange | null>, bytes: Buffer): void {
  const exchange = socket.data;
  if (exchange === null) return;
  const read = bytes.toString("latin1");
  exchange.held += frame(read);
  if (read.endsWith("0\r\n\r\n")) {
    exchange.held += "data: [DONE]\n\n";
    exchange.isOver = true;
    socket.data = null;
    idle.push(socket);
  }
  deliver(exchange);
}

function deliver(exchange: Exchange): void {
  const { controller } = exchange;
  if (controller === null) return;
  if (exchange.held !== "") controller.write(exchange.held);
  exchange.held = "";
  if (exchange.isOver) {
    controller.close();
    exchange.finish();
  } else controller.flush();
}

async function send(exchange: Exchange, message: string): Promise<Socket<Exchange | null>> {
  let socket = idle.pop();
  socket ??= await Bun.connect<Exchange | null>({
    hostname: "127.0.0.1",
    port: provider,
    data: null,
    socket: {
      data: receive,
      close: (closed) => void (idle.includes(closed) && idle.splice(idle.indexOf(closed), 1)),
    },
  });
  socket.data = exchange;
  const body = JSON.stringify({ model: "bench", stream: true, messages: [{ role: "user", content: message }] });
  const length = Buffer.byteLength(body);
  socket.write(`POST /v1/chat/completions HTTP/1.1\r\nHost: provider\r\nContent-Length: ${length}\r\n\r\n${body}`);
  return socket;
}

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 60,
  development: false,
  async fetch(request) {
    const { message } = (await request.json()) as { message: string };
    const exchange: Exchange = { controller: null, held: "", isOver: false, finish: () => {} };
    const socket = await send(exchange, message);
    const body = new ReadableStream({
      type: "direct",
      pull: (controller) =>
        new Promise<void>((resolve) => {
          exchange.finish = resolve;
          exchange.controller = controller;
          deliver(exchange);
        }),
      cancel: () => void (exchange.isOver || socket.terminate()),
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  },
});
console.log(JSON.stringify({ port: server.port }));
