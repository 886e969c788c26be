/**
 * A connection pooler as PgBouncer is with `pool_mode = transaction`: it lends a client one of a few sessions of
 * PostgreSQL for a transaction at a time. Its clients need no password.
 */
import { connect as connectSocket, createServer, type Socket } from "node:net";

/** A session of the server's. */
interface Backend {
  socket: Socket;
  /** Who has it; null while it is free. */
  client: Client | null;
  rest: Buffer;
}

interface Client {
  socket: Socket;
  /** What it sent and no backend has got yet. */
  waiting: Buffer[];
  backend: Backend | null;
  hasBegun: boolean;
}

export interface TransactionPooler extends AsyncDisposable {
  readonly port: number;
}

/** `sessions`: how many it shares among all clients. They are opened with the first client's settings. */
export async function startTransactionPooler(targetPort: number, sessions: number): Promise<TransactionPooler> {
  const backends: Backend[] = [];
  const clients = new Set<Client>();
  let greeting: Buffer | null = null;

  function serve(client: Client): void {
    if (client.waiting.length === 0) return;
    const backend = client.backend ?? backends.find((one) => one.client === null);
    if (backend === undefined) return;
    backend.client = client;
    client.backend = backend;
    for (const piece of client.waiting.splice(0)) backend.socket.write(piece);
  }

  /** Messages of the server: a type, a length, and its content. */
  function onServer(backend: Backend, piece: Buffer, onReady: (messages: Buffer) => void): void {
    backend.rest = Buffer.concat([backend.rest, piece]);
    let at = 0;
    let isIdle = false;
    while (backend.rest.length >= at + 5) {
      const end = at + 1 + backend.rest.readUInt32BE(at + 1);
      if (backend.rest.length < end) break;
      if (backend.rest[at] === 0x5a) isIdle = backend.rest[at + 5] === 0x49;
      at = end;
    }
    const whole = backend.rest.subarray(0, at);
    backend.rest = Buffer.from(backend.rest.subarray(at));
    if (isIdle) onReady(whole);
    else backend.client?.socket.write(whole);
  }

  async function openBackends(startup: Buffer): Promise<Buffer> {
    const first = Promise.withResolvers<Buffer>();
    for (let number = 0; number < sessions; number++) {
      const backend: Backend = { socket: connectSocket(targetPort, "127.0.0.1"), client: null, rest: Buffer.alloc(0) };
      let isOpen = false;
      backend.socket.on("error", () => {});
      backend.socket.on("data", (piece: Buffer) =>
        onServer(backend, piece, (messages) => {
          const { client } = backend;
          if (!isOpen) {
            isOpen = true;
            backends.push(backend);
            first.resolve(Buffer.from(messages));
          } else client?.socket.write(messages);
          backend.client = null;
          if (client !== null) client.backend = null;
          for (const one of clients) serve(one);
        }),
      );
      backend.socket.write(startup);
    }
    return await first.promise;
  }

  const server = createServer((socket) => {
    const client: Client = { socket, waiting: [], backend: null, hasBegun: false };
    clients.add(client);
    socket.on("error", () => {});
    socket.on("close", () => clients.delete(client));
    socket.on("data", async (piece: Buffer) => {
      if (client.hasBegun) {
        client.waiting.push(piece);
        return serve(client);
      }
      client.hasBegun = true;
      greeting ??= await openBackends(piece);
      socket.write(greeting);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the pooler has no address");
  return {
    port: address.port,
    async [Symbol.asyncDispose]() {
      server.close();
      for (const { socket } of [...clients, ...backends]) socket.destroy();
    },
  };
}
